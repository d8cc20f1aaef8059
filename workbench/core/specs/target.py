"""What a target's plug-in file declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from workbench.core.params import Param, Params
from workbench.errors import UsageError, WorkbenchError


@dataclass(frozen=True, kw_only=True)
class TargetLimits:
    """Limits of training on a target, so that no code depends on which target it is.

    Attributes:
        replicas: How many devices share each batch.
        has_bfloat16: Whether it computes bfloat16 in hardware; None to ask the processor.
        may_measure: Whether ways to run may be raced; else one is taken as it is.
        jit_step: Whether the step may be compiled by XLA at our request.
        jit_host: Whether XLA may compile what runs in the input pipeline.
        own_layers: Whether the forms of layers that are made for processors may be used.
        call_s: Aimed seconds of one call into TensorFlow.
        call_steps: Steps of every call, where several processes must agree; None to learn.
        environment: Which lock file a host of it needs.
    """

    replicas: int = 1
    has_bfloat16: bool | None = None
    may_measure: bool = True
    jit_step: bool = True
    jit_host: bool = True
    own_layers: bool = True
    call_s: float = 0.12
    call_steps: int | None = None
    environment: Literal["worker", "tpu", "gpu"] = "worker"


def _reads_nothing(text: str) -> Params:
    if text:
        raise UsageError("This target takes no value after a colon.", received=text)
    return {}


@dataclass(frozen=True, kw_only=True)
class TargetSpec:
    """One place to train on, all reached through tf.distribute.

    Attributes:
        key, title, summary: As above.
        params: What the user chooses.
        environment: Variables that must be set before TensorFlow starts.
        connect: (tf, params) -> a tf.distribute strategy.
        describe: What is there, in words, without TensorFlow ("2 cores, bfloat16 units").
        limits: Limits of training there.
        form: How it is written where it needs a value: "ssh:[USER@]HOST[:PORT][/TARGET]".
        read: What follows "KEY:" in a TARGET text, "" for nothing -> the parameters it
            sets; raises UsageError or ParamError. See core.target_text.
        write: The inverse of `read`; "" where the key says it all.
        other_form: A text without the key, as other programs and tutorials name such a place ->
            what follows "KEY:", None for a text that is none; raises UsageError.
        found: os.environ -> (parameters, why they are offered) of places that it names.
        is_remote: Trained there by a host that is reached over a line.
        probe: What is wrong with it, without TensorFlow and within seconds; None for nothing.
        is_offered: Whether menus show it without being asked.
        rank: Order in which `auto` chooses, lower first; 0 is never chosen.
        presets: The parameters that menus show it with; what is missing has its default.
        label: A choice of it in a few words ("8 simulated devices"), which holds for another
            computer that it is a target of; "" where the title does.
        machines: Addresses "HOST" or "HOST:PORT" of the machines that share every batch, each
            by a process of its own, the chief first; nothing for a single process.
        addresses: Other computers, in words for people, that training on it or `probe` connects
            to; nothing where it stays on this one.
    """

    key: str
    title: str
    summary: str
    params: tuple[Param, ...] = ()
    environment: Callable[[Params], Mapping[str, str]] = lambda params: {}
    connect: Callable[[Any, Params], Any]
    describe: Callable[[Params], str]
    limits: Callable[[Params], TargetLimits] = lambda params: TargetLimits()
    form: str = ""
    read: Callable[[str], Params] = _reads_nothing
    write: Callable[[Params], str] = lambda params: ""
    other_form: Callable[[str], str | None] = lambda text: None
    found: Callable[[Mapping[str, str]], Sequence[tuple[Params, str]]] = lambda variables: ()
    is_remote: Callable[[Params], bool] = lambda params: False
    probe: Callable[[Params], WorkbenchError | None] = lambda params: None
    is_offered: Callable[[], bool] = lambda: True
    rank: int = 0
    presets: tuple[Params, ...] = ({},)
    label: Callable[[Params], str] = lambda params: ""
    machines: Callable[[Params], Sequence[str]] = lambda params: ()
    addresses: Callable[[Params], Sequence[str]] = lambda params: ()

    def replicas(self, params: Params) -> int:
        """How many devices share each batch."""
        return self.limits(params).replicas
