"""The kind of exception that a call raises, for programs that expect one."""


def kind_of_error(call):
    """Return the name of the base of the exceptions that both packages raise here, or None if the call succeeds."""
    try:
        call()
    except Exception as error:
        kinds = (TypeError, IndexError, KeyError, AttributeError, RuntimeError)
        return next(kind.__name__ for kind in kinds if isinstance(error, kind))
    return None


def error_of(call):
    """Return the exception that a call raises, or None if it succeeds."""
    try:
        call()
    except Exception as error:
        return error
    return None
