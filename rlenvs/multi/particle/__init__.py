"""Particle worlds: discs that push, chase and talk."""

from rlenvs.core.registry import register

KINDS = ("multi-agent", "multi-objective")
SAFE = (*KINDS, "safe")

register("ParticleSimple-v0", "rlenvs.multi.particle.simple:SPEC", KINDS)
register("ParticleSpread-v0", "rlenvs.multi.particle.spread:SPEC", SAFE)
register("ParticleTag-v0", "rlenvs.multi.particle.tag:SPEC", SAFE)
register("ParticleAdversary-v0", "rlenvs.multi.particle.adversary:SPEC", KINDS)
register("ParticlePush-v0", "rlenvs.multi.particle.push:SPEC", KINDS)
register("ParticleSpeakerListener-v0", "rlenvs.multi.particle.speaker_listener:SPEC", KINDS)
register("ParticleReference-v0", "rlenvs.multi.particle.reference:SPEC", KINDS)
register("ParticleCrypto-v0", "rlenvs.multi.particle.crypto:SPEC", KINDS)
register("ParticleWorldComm-v0", "rlenvs.multi.particle.world_comm:SPEC", SAFE)
register("ParticleNavigation-v0", "rlenvs.multi.particle.navigation:SPEC", SAFE)
