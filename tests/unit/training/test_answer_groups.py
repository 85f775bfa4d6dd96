"""What the answerer is trained with: questions, texts that answer them, and texts that do not."""

from __future__ import annotations

import random
from pathlib import Path

from training import sample
from training.answers import groups


def test_every_answer_of_a_scene_is_told_in_it():
    scenes = groups.read_scenes(groups.DATA)
    assert {scene["who"] for scene in scenes}
    for scene in scenes:
        for question in (*scene["ask"], *scene["tasks"]):
            assert question["a"], question["q"]
            assert max(question["a"]) < len(scene["told"]), question["q"]


def test_what_answered_before_and_what_answers_now_are_told_in_the_scene():
    for scene in groups.read_scenes(groups.DATA, "changes"):
        for question in scene["ask"]:
            places = [*question["now"], *question["was"]]
            assert question["now"], question["q"]
            assert len(set(places)) == len(places), question["q"]
            assert max(places) < len(scene["told"]), question["q"]


def test_a_question_comes_with_what_answers_it_and_what_does_not():
    scene = {
        "told": ["Ann feeds the cat", "The cat is deaf", "Ann is away in May"],
        "ask": [{"q": "who feeds the cat?", "a": [0]}],
        "tasks": [],
        "none": ["what does the cat eat?"],
    }
    asked, unanswered = groups.scene_groups(scene)
    assert asked["right"] == ["Ann feeds the cat"]
    assert asked["wrong"] == ["The cat is deaf", "Ann is away in May"]
    assert not unanswered["right"]
    assert len(unanswered["wrong"]) == 3


def test_questions_of_held_back_scenes_are_not_trained_on():
    train, dev = groups.own_groups(random.Random(1))
    asked = {it["q"] for it in train if it["from"].startswith(("scene", "change"))}
    held = {it["q"] for it in dev if it["from"].startswith(("scene", "change"))}
    # Two scenes may ask the same thing of different people.
    assert len(held & asked) < len(held) / 10


def test_of_a_paragraph_the_sentence_with_the_answer_is_right(tmp_path: Path):
    sample.write_sources(tmp_path, count=5)
    found = groups.public_groups(tmp_path, random.Random(1))
    assert {len(group["right"]) for group in found} == {1}
    assert any(group["wrong"] for group in found)
