"""Fit, predict, inspect, evaluate, merge, update, forget: what they do is what Python does."""

from __future__ import annotations

import csv
import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

import suffice
from suffice.persistence import load_noted

from .conftest import shop

MAKE = {
    "tabular": lambda: suffice.TabularClassifier(random_state=0),
    "additive": suffice.AdditiveTables,
    "nb": suffice.NaiveBayes,
}


def rows(path):
    table = pcsv.read_csv(path)
    return table.drop_columns(["back"]), np.asarray(table["back"].to_pylist())


def predicted(path):
    with path.open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("kind", MAKE)
def test_what_is_fitted_and_predicted_is_what_python_has(files, call, kind):
    X, y = rows(files / "a.csv")
    model = MAKE[kind]().fit(X, y)
    said = call("fit", "a.csv", "--target", "back", "--model", kind, "--out", "m.suffice")
    assert f"{type(model).__name__}: 160 rows, 3 columns (2 of numbers, 1 of text), 2 classes" in said
    call("predict", "m.suffice", "new.csv", "--proba", "--keep", "visits,town", "--out", "out.csv")
    got, new = predicted(files / "out.csv"), rows(files / "new.csv")[0]
    assert list(got[0]) == ["visits", "town", "prediction", "p(no)", "p(yes)"]
    assert [row["prediction"] for row in got] == model.predict(new).tolist()
    assert [row["visits"] for row in got] == [str(v) for v in new["visits"].to_pylist()]
    p = np.array([[float(row["p(no)"]), float(row["p(yes)"])] for row in got])
    np.testing.assert_array_equal(p, model.predict_proba(new))


def test_predictions_of_every_kind_of_file_are_the_same(files, call):
    call("fit", "a.csv", "--target", "back", "--model", "nb", "--out", "m.suffice")
    pq.write_table(pcsv.read_csv("new.csv"), "new.parquet")
    call("predict", "m.suffice", "new.parquet", "--proba", "--out", "out.parquet")
    call("predict", "m.suffice", "new.csv", "--proba", "--out", "out.tsv")
    call("predict", "m.suffice", "new.csv", "--proba", "--out", "out.arrow")
    call("predict", "m.suffice", "new.csv", "--proba")
    (files / "shown.csv").write_text(call.stdout)
    first = pq.read_table("out.parquet")
    assert first.equals(pa.ipc.open_file("out.arrow").read_all())
    for path, separator in (("out.tsv", "\t"), ("shown.csv", ",")):
        assert first.equals(pcsv.read_csv(path, parse_options=pcsv.ParseOptions(delimiter=separator)))


KEYS = {
    "id": [f"{i:03d}" for i in range(40)],
    "zip": [f"{i * 501:05d}" for i in range(40)],
    "day": ["01.02.2024", " 3.4.2024 "] * 20,
    "sum": ["1,50", "NA", "1e3", "", '"x"'] * 8,
}


@pytest.mark.parametrize("learned", [["id", "zip"], []])
def test_kept_columns_are_the_text_of_the_file(files, call, learned):
    """Also if the model has learned them as numbers."""
    table = shop(40, 1, **KEYS)
    pcsv.write_csv(table.drop_columns([name for name in KEYS if name not in learned]), "k.csv")
    call("fit", "k.csv", "--target", "back", "-m", "nb", "-o", "m.suffice")
    pcsv.write_csv(table, "new.csv")
    for out in ("p.csv", "p.parquet"):
        call("predict", "m.suffice", "new.csv", "--keep", ",".join(KEYS), "-o", out)
    assert {name: [row[name] for row in predicted(files / "p.csv")] for name in KEYS} == KEYS
    assert pq.read_table("p.parquet").select(list(KEYS)).to_pydict() == KEYS


def test_kept_columns_have_the_types_of_the_file(files, call, model):
    keys = pa.table(
        {
            "id": pa.array(range(40), pa.uint8()),
            "day": pa.array([datetime.date(2024, 1, 1)] * 40),
            "price": pa.array([Decimal("1.50")] * 40),
            "group": pa.array(["u ", "NA"] * 20).dictionary_encode(),
            "list": [[1, 2]] * 40,
            "visits": shop(40, 1)["visits"],
        }
    )
    table = shop(40, 1)
    for name in keys.column_names[:-1]:
        table = table.append_column(name, keys[name])
    pq.write_table(table, "new.parquet")
    call("predict", "m.suffice", "new.parquet", "--keep", ",".join(keys.column_names), "-o", "p.parquet")
    assert pq.read_table("p.parquet").drop_columns(["prediction"]).equals(keys)


@pytest.mark.filterwarnings("ignore::suffice.learners.StaleWarning")
@pytest.mark.parametrize("kind", MAKE)
def test_merge_update_and_forget_are_those_of_python(files, call, kind):
    (A, a), (B, b), (new, _) = rows(files / "a.csv"), rows(files / "b.csv"), rows(files / "new.csv")
    first = MAKE[kind]().fit(A, a)
    shared = {"encoder": first.encoder_} if hasattr(first, "encoder_") else {}
    other = MAKE[kind]().set_params(**shared).fit(B, b)
    call("fit", "a.csv", "--target", "back", "--model", kind, "-o", "a.suffice")
    call("fit", "b.csv", "--like", "a.suffice", "-o", "b.suffice")
    call("merge", "a.suffice", "b.suffice", "-o", "ab.suffice")
    call("update", "a.suffice", "b.csv", "-o", "updated.suffice")
    said = call("forget", "ab.suffice", "b.csv", "-o", "left.suffice")
    assert "forgot 140 rows" in said
    assert "of 160 rows" in said
    expected = {"ab": first + other, "updated": MAKE[kind]().fit(A, a).partial_fit(B, b)}
    expected["left"] = (first + other).forget(B, b)
    for name, model in expected.items():
        got = suffice.load(f"{name}.suffice").predict_proba(new)
        np.testing.assert_array_equal(got, model.predict_proba(new))


def test_stale_weights_are_said_and_learned_anew(files, call):
    call("fit", "a.csv", "--target", "back", "--out", "m.suffice")
    assert "stale no" in call("inspect", "m.suffice")
    stale = "rows were added or removed since the model was calibrated: `suffice recalibrate` calibrates it again"
    assert stale in call("update", "m.suffice", "b.csv")
    assert "stale yes" in call("inspect", "m.suffice")
    assert stale in call("predict", "m.suffice", "new.csv")
    assert stale in call("evaluate", "m.suffice", "new.csv")
    assert stale not in call("recalibrate", "m.suffice", "both.csv")
    said = call("inspect", "m.suffice")
    for words in ("fit on a.csv: 160 rows", "learned further 140 rows of b.csv", "recalibrated on 300 rows"):
        assert words in said
    assert "stale no" in said


def test_inspect_says_what_a_model_is(files, call):
    call("fit", "both.csv", "--target", "back", "--model", "nb", "--na", "none", "--out", "m.suffice")
    said = call("inspect", "m.suffice")
    assert f"written by suffice {suffice.__version__}" in said
    for words in (
        "NaiveBayes (--model nb)",
        "target back",
        "rows 300",
        "adds up merge, update, forget",
        "missing also none",
    ):
        assert words in said
    for name in ("age numbers", "town text", "visits numbers"):
        assert name in said
    assert all(len(line) <= 80 for line in call.stdout.splitlines())


def test_evaluate_measures_beside_chance(files, call):
    call("fit", "a.csv", "--target", "back", "--out", "m.suffice")
    said = call("evaluate", "m.suffice", "new.csv")
    X, y = rows(files / "new.csv")
    model = suffice.load("m.suffice")
    p = model.predict_proba(X)
    shares = np.tile(model.class_count_ / model.class_count_.sum(), (len(y), 1))
    wrong = 1 - accuracy_score(y, model.predict(X))
    assert f"rows wrong {wrong:.2%} {np.mean(y != 'no'):.2%}" in said
    assert f"log loss {log_loss(y, p):.4f} {log_loss(y, shares):.4f}" in said
    assert f"AUC {roc_auc_score(y == 'yes', p[:, 1]):.4f} 0.5000" in said
    assert f"Brier score {np.square(p - (y[:, None] == model.classes_)).sum(axis=1).mean():.4f}" in said
    right = np.sum((y == "no") & (model.predict(X) == "no"))
    assert f"no {right}" in said


def test_evaluate_knows_that_a_class_is_new(files, call):
    call("fit", "a.csv", "--target", "back", "--model", "nb", "--out", "m.suffice")
    table = shop(40, 1)
    pcsv.write_csv(table.set_column(3, "back", pa.array(["maybe", *table["back"].to_pylist()[1:]])), "new.csv")
    assert "1 row of classes that were never learned (maybe): always wrong" in call("evaluate", "m.suffice", "new.csv")


def test_reasons(files, call):
    call("fit", "a.csv", "--target", "back", "--model", "additive", "--out", "m.suffice")
    call("predict", "m.suffice", "new.csv", "--explain", "--out", "out.csv")
    X, _ = rows(files / "new.csv")
    model = suffice.load("m.suffice")
    found = model.contributions(X)
    odds = found.values if hasattr(found, "values") else found.terms[:, 1] - found.terms[:, 0]
    for i, row in enumerate(predicted(files / "out.csv")[:5]):
        side = 1 if row["prediction"] == "yes" else -1
        j = int(np.abs(odds[i]).argmax())
        name = " & ".join(found.names[j]) if isinstance(found.names[j], tuple) else found.names[j]
        assert row["because"].startswith(f"{name} {side * odds[i, j]:+.2f}")


def test_auto_takes_the_least_log_loss_and_shows_what_it_chose_from(files, call):
    said = call("fit", "both.csv", "--target", "back", "--model", "auto", "--max-time", 20, "--out", "m.suffice")
    assert "5 folds of 300 rows" in said
    losses = {}
    for line in call.stdout.splitlines():
        words = line.split()
        if words and words[0] in ("nb", "additive", "tabular", "nb-calibrated"):
            losses[words[0]] = float(next(w for w in words if w.startswith("0.") and len(w) == 6))
            best = words[0] if words[-1] == "chosen" else locals().get("best")
    assert len(losses) == 4
    assert losses[best] == min(losses.values())
    assert load_noted("m.suffice").notes["command"]["kind"] == best


def test_auto_without_time_says_what_was_not_tried(files, call):
    said = call("fit", "both.csv", "--target", "back", "--model", "auto", "--max-time", 0, "--out", "m.suffice")
    assert "1 fold of 300 rows" in said
    assert "tabular was not compared: no time was left" in said


def test_a_method_of_comparisons_is_fitted_by_its_name(files, call):
    call("fit", "a.csv", "--target", "back", "--model", "mpm", "--out", "m.suffice")
    X, y = rows(files / "a.csv")
    model = suffice.MinimaxProbabilityMachine().fit(X.drop_columns(["town"]), y)
    np.testing.assert_array_equal(load_noted("m.suffice").model.coef_, model.coef_)
    assert load_noted("m.suffice").notes["command"]["kind"] == "MPM"
    said = call("fit", "a.csv", "--target", "back", "--model", "knn", "--out", "k.suffice", code=2)
    assert "kNN cannot be written to a model file" in said


def test_models_of_numbers_leave_text_out(files, call):
    said = call("fit", "a.csv", "--target", "back", "--model", "lda", "--out", "m.suffice")
    assert "this model takes numbers only, so that 'town' is left out" in said
    X, y = rows(files / "a.csv")
    model = suffice.LinearDiscriminantAnalysis().fit(X.drop_columns(["town"]), y)
    call("predict", "m.suffice", "new.csv", "--proba", "--out", "out.parquet")
    new = rows(files / "new.csv")[0].drop_columns(["town"])
    np.testing.assert_array_equal(pq.read_table("out.parquet")["p(no)"], model.predict_proba(new)[:, 0])


def test_labels_keep_their_kind(files, call):
    for labels, kind in (([7, 12], "int64"), (["07", "12"], "string"), ([True, False], "bool"), ([1.0, 2.0], "int64")):
        table = shop(60)
        y = pa.array([labels[label == "yes"] for label in table["back"].to_pylist()])
        pq.write_table(table.set_column(3, "back", y), "t.parquet")
        call("fit", "t.parquet", "--target", "back", "--model", "nb", "--out", "m.suffice", "--force")
        call("predict", "m.suffice", "t.parquet", "--out", "out.parquet", "--force")
        assert str(pq.read_table("out.parquet")["prediction"].type) == kind
        pcsv.write_csv(table.set_column(3, "back", y), "t.csv")
        call("evaluate", "m.suffice", "t.csv")
        call("forget", "m.suffice", "t.csv", code=2)  # nothing would be left


def test_what_was_saved_in_python(files, call):
    X, y = rows(files / "a.csv")
    suffice.NaiveBayes().fit(X, y).save("m.suffice")
    call("predict", "m.suffice", "new.csv", "--out", "out.csv")
    assert "not known: it was saved in Python" in call("inspect", "m.suffice")
    assert "which column holds the classes?" in call("evaluate", "m.suffice", "new.csv", code=2)
    call("update", "m.suffice", "b.csv", "--target", "back")
    call("evaluate", "m.suffice", "new.csv")  # it is known from then on
    suffice.GaussianNB().fit([[0.0], [1.0], [5.0]], [0, 0, 1]).save("array.suffice")
    assert "was learned from an array without column names" in call("predict", "array.suffice", "new.csv", code=2)


def test_ways_of_writing_are_kept_with_the_model(files, call):
    """Rows with dates and numbers of which a few do not say how they are written."""
    plain = shop(80)
    yes = [label == "yes" for label in plain["back"].to_pylist()]
    days = [(1 + i % 28, 1 + i % 12, 2020 + 3 * y) for i, y in enumerate(yes)]
    money = [1000 + i + 500 * y for i, y in enumerate(yes)]
    ours = {"day": [f"{d:02}/{m:02}/{y}" for d, m, y in days], "money": [f"{v:,}.50" for v in money]}
    iso = {"day": [f"{y}-{m:02}-{d:02}" for d, m, y in days], "money": [f"{v}.50" for v in money]}
    for name, more in (("ours", ours), ("iso", iso)):
        table = plain.append_column("day", pa.array(more["day"])).append_column("money", pa.array(more["money"]))
        pcsv.write_csv(table, f"{name}.csv")
        pcsv.write_csv(table.slice(0, 2), f"{name}_few.csv")
    said = call("fit", "ours.csv", "--target", "back", "--out", "ours.suffice")
    assert "'day' is read as dates (dd/mm/yyyy)" in said
    assert "'money' is read as numbers (1,234.5)" in said
    call("fit", "iso.csv", "--target", "back", "--out", "iso.suffice")
    seen = call("inspect", "ours.suffice")
    assert "day dates (dd/mm/yyyy)" in seen
    expected = call("predict", "iso.suffice", "iso_few.csv", "--proba")
    assert call("predict", "ours.suffice", "ours_few.csv", "--proba") == expected
    assert call("predict", "ours.suffice", "iso_few.csv", "--proba") == expected
    call("update", "ours.suffice", "ours_few.csv")


def test_labels_stay_as_they_are_written(files, call):
    table = shop(60)
    y = pa.array(["31.12.2024" if label == "yes" else "01.12.2024" for label in table["back"].to_pylist()])
    pcsv.write_csv(table.set_column(3, "back", y), "t.csv")
    call("fit", "t.csv", "--target", "back", "--model", "nb", "--out", "m.suffice")
    assert suffice.load("m.suffice").classes_.tolist() == ["01.12.2024", "31.12.2024"]
    call("evaluate", "m.suffice", "t.csv")


def test_categorical_columns_are_known_when_predicting(files, call):
    code = pa.array([f"0{i % 3}" for i in range(100)])
    pcsv.write_csv(shop(100, code=code), "t.csv")
    call(
        "fit", "t.csv", "--target", "back", "--categorical", "code", "--drop", "age", "--model", "nb", "-o", "m.suffice"
    )
    assert "code text" in call("inspect", "m.suffice")
    assert "left out age" in call("inspect", "m.suffice")
    assert "note" not in call("predict", "m.suffice", "t.csv")  # that there is an age was known when it was fitted
    assert load_noted("m.suffice").model.columns_["code"].kind == "category"
