import { Inject, Injectable } from '@nestjs/common';
import type { Catalogue } from '../../ai/index.js';
import type { Caller } from '../../auth/index.js';
import type { Lease } from '../../lock/index.js';
import { CONVERSATION_CATALOGUE } from '../conversation.options.js';
import type { Turn } from '../store/index.js';
import { timeLeft, type TurnAsk, type TurnInput } from './turn.ask.js';
import { type TurnModel, turnModel } from './turn.model.js';
import { TurnPlanner } from './turn.planner.js';
import { TurnRunner } from './turn.runner.js';
import type { TurnRun } from './turn.run.js';
import { TurnStarter } from './turn.starter.js';

/** A turn that was acknowledged. */
export interface AskedTurn {
  readonly turn: Turn;
  /** Undefined: it was asked for before, and is run elsewhere or over. */
  readonly run: TurnRun | undefined;
}

/** From a lock to a turn that runs. */
@Injectable()
export class TurnRuns {
  constructor(
    private readonly starter: TurnStarter,
    private readonly planner: TurnPlanner,
    private readonly runner: TurnRunner,
    @Inject(CONVERSATION_CATALOGUE) private readonly catalogue: Catalogue,
  ) {}

  /** @throws ApiError draining */
  assertOpen(): void {
    this.runner.assertOpen();
  }

  /** The first of the names that is one. @throws ApiError model_not_found, model_not_allowed */
  model(caller: Caller, names: readonly (string | undefined)[]): TurnModel {
    return turnModel(this.catalogue, caller, names);
  }

  /** The lease is the run's from here on, where there is one. @throws ApiError */
  async begin(
    ask: TurnAsk,
    input: TurnInput,
    { model, lease }: { readonly model: TurnModel; readonly lease: Lease },
  ): Promise<AskedTurn> {
    this.runner.assertOpen();
    const { place, terms } = ask;
    const deadlineMs = timeLeft(ask);
    const { turn, plan } = await this.starter.begin(ask, input, model, lease);
    if (plan === undefined) return { turn, run: undefined };
    const run = this.runner.begin({
      place,
      turn,
      lease,
      head: plan.head,
      encoding: model.settings.tokenizer.encoding,
      window: JSON.stringify(plan.summary),
      request: { ...terms, deadlineMs, idempotencyKey: turn.id },
      body: async () => ({
        ...input.parameters,
        model: model.name,
        stream: true,
        stream_options: { include_usage: true },
        messages: await this.planner.messages(place, plan),
      }),
    });
    return { turn, run };
  }
}
