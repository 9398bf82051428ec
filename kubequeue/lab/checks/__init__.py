"""Checks that answer in a sentence and never stop a lesson: `compare`, `check` and `quiz`."""

from kubequeue.lab.checks.comparing import compare
from kubequeue.lab.checks.exercise import check
from kubequeue.lab.checks.quiz import quiz

__all__ = ["check", "compare", "quiz"]
