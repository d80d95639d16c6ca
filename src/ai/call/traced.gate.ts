import type { Obstacle } from '../route/obstacle.js';
import type { Candidate } from '../route/route.plan.js';
import type { Gate } from './attempt.ports.js';
import type { CallTrace } from './call.trace.js';

/** A gate whose waits and refusals are seen in a trace. */
export class TracedGate implements Gate {
  constructor(
    private readonly gate: Gate,
    private readonly trace: CallTrace,
  ) {}

  obstacleAt(candidate: Candidate): Obstacle | undefined {
    return this.gate.obstacleAt(candidate);
  }

  async enter(candidate: Candidate, waitMs: number): Promise<Obstacle | undefined> {
    const startedAt = performance.now();
    const obstacle = await this.gate.enter(candidate, waitMs);
    this.trace.waited(performance.now() - startedAt, {
      'coordinator.deployment': candidate.deployment.id,
      'coordinator.admission': obstacle === undefined ? 'admitted' : 'refused',
    });
    if (obstacle !== undefined) this.trace.passedOver(candidate, obstacle);
    return obstacle;
  }

  isLimited(candidate: Candidate): boolean {
    return this.gate.isLimited(candidate);
  }

  forgo(candidate: Candidate): void {
    this.gate.forgo(candidate);
  }
}
