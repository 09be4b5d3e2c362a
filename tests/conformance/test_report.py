"""What the kit tells at the end."""

from types import SimpleNamespace

from hetero.conformance.report import FEATURE, PROPERTY, features, table


def case(operation, works, supported=True, failed=False, passed=None):
    return SimpleNamespace(user_properties=[(PROPERTY, [operation, works, supported, passed])], failed=failed)


def test_the_table():
    lines = table(
        [
            case("Relu", ["f32"]),
            case("Relu", ["f16"], failed=True),
            case("Relu", ["i32"]),
            case("Relu", ["f64"], supported=False),
            case("TopK", ["f32"], supported=False),
            case("Abs", ["f32"], supported=False, failed=True),
            SimpleNamespace(user_properties=[("other", 1)], failed=True),
        ]
    )
    assert [line.split() for line in lines[1:]] == [
        ["Abs", "0", "1", "0"],
        ["Relu", "2", "1", "1", "f32", "i32"],
        ["not", "supported:", "1", "operations"],
        ["TopK"],
        ["cases:", "2", "passed,", "2", "failed,", "2", "not", "supported"],
    ]


def test_cases_of_one_test_count_by_themselves():
    first, second = case("Relu", ["f32"], passed=True), case("Relu", ["f32"], passed=False)
    report = SimpleNamespace(user_properties=first.user_properties + second.user_properties, failed=True)
    assert table([report])[-1] == "cases: 1 passed, 1 failed, 0 not supported"


def test_a_long_list_is_broken_into_lines():
    lines = table([case(f"Operation{index:03}", [], supported=False) for index in range(100)])
    assert all(len(line) <= 120 for line in lines)
    assert sum(line.count("Operation") for line in lines) == 100


def test_runs_without_cases_have_no_table():
    assert table([SimpleNamespace(user_properties=[], failed=True)]) == [] == features([])


def test_features():
    reports = [
        SimpleNamespace(user_properties=[(FEATURE, value)])
        for value in (["variables", True], ["export", False], ["contexts", True])
    ]
    assert features(reports) == ["supported features: variables, contexts", "unsupported features: export"]
