"""``python -m hetero`` is the command ``hetero``."""

from hetero.run.cli import main

if __name__ == "__main__":
    main()
