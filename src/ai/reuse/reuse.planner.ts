import { Inject, Injectable } from '@nestjs/common';
import { ownerOf } from '../../auth/index.js';
import { AI_OPTIONS, type AiOptions } from '../ai.options.js';
import type { CompletionCall } from '../call/completion-call.js';
import { CompletionRouter, type Preview } from '../call/completion.router.js';
import { UpstreamGate } from '../call/upstream.gate.js';
import { Catalogue } from '../catalogue/catalogue.js';
import type { RouteReason } from '../route/obstacle.js';
import type { RoutePlan } from '../route/route.plan.js';
import { bodyDigest, digestOf, questionDigest } from './digest/request.digest.js';
import type { FlightPlan } from './flight/flight.plan.js';
import { canBeGiven, isComplete } from './recording/recording.forms.js';
import type { AnswerFacts } from './recording/recording.js';
import { Shelves } from './shelves.js';

/** What a call has in common with others, and how their answer would come to be its own. */
export interface SharedPlan {
  readonly flight: FlightPlan;
  /** The call's plan as it was made for this. */
  readonly preview: Preview;
  /** Why that model answers this call, which may have asked for another one than the call that was answered first. */
  readonly routeOf: (facts: AnswerFacts) => RouteReason;
}

/** Finds the names under which calls meet. */
@Injectable()
export class ReusePlanner {
  readonly #shelves: Shelves;

  constructor(
    private readonly router: CompletionRouter,
    private readonly gate: UpstreamGate,
    private readonly catalogue: Catalogue,
    @Inject(AI_OPTIONS) private readonly options: AiOptions,
  ) {
    this.#shelves = new Shelves(options.cache);
  }

  /**
   * By the question, the models that would answer it, and whom answers are shared with. Undefined: nobody would answer, or answers of
   * the first model are not to be reused.
   *
   * @throws the signal's reason when the caller has left
   */
  async shared(call: CompletionCall): Promise<SharedPlan | undefined> {
    const preview = await this.router.preview(call);
    const { plan } = preview;
    const [first] = plan.candidates;
    if (first === undefined || first.model.cacheTtlMs === 0) return undefined;
    const question = questionDigest(call);
    const { cacheGroup } = call.caller;
    const owner = ownerOf(call.caller);
    const scope = cacheGroup === undefined ? `caller ${owner}` : `group ${cacheGroup}`;
    const nameOf = (model: string): string => digestOf(scope, model, question);
    const { shelf, shelfBytes } = this.#shelves.cacheOf(question);
    const flight: FlightPlan = {
      shelf,
      name: digestOf(owner, formOf(call), ...modelsOf(plan), question),
      purpose: '',
      answers: this.modelsToAsk(plan).map(nameOf),
      isFleetWide: call.request.stream !== true,
      runsOn: false,
      needsStore: false,
      accepts: (recording) => canBeGiven(recording, call.request.stream === true),
      keep: (recording) => {
        const forMs = this.catalogue.find(recording.model)?.cacheTtlMs ?? 0;
        const isKept = forMs > 0 && isComplete(recording) && this.isSmall(recording.text);
        return isKept ? { answer: nameOf(recording.model), forMs, shelfBytes } : undefined;
      },
    };
    return { flight, preview, routeOf: (facts) => routeOf(plan, call, facts) };
  }

  /** By the caller's Idempotency-Key. */
  keyed(call: CompletionCall, key: string): FlightPlan {
    const name = digestOf(ownerOf(call.caller), key);
    const { shelf, shelfBytes } = this.#shelves.keysOf(name);
    return {
      shelf,
      name,
      purpose: bodyDigest(call),
      answers: [name],
      isFleetWide: true,
      // Who names a call will ask for its answer again, and is not to pay for it again.
      runsOn: true,
      needsStore: true,
      accepts: () => true,
      keep: () => ({ answer: name, forMs: this.options.cache.idempotencyMs, shelfBytes }),
    };
  }

  /** Those that stand before the first that may be called now: it is the one that will be. */
  private modelsToAsk(plan: RoutePlan): readonly string[] {
    const names = new Set<string>();
    for (const candidate of plan.candidates) {
      names.add(candidate.model.name);
      const obstacle = this.gate.obstacleAt(candidate);
      if (obstacle === undefined) break;
      plan.meet(candidate, obstacle);
    }
    return [...names];
  }

  private isSmall(text: string): boolean {
    return Buffer.byteLength(text) <= this.options.cache.maxEntryBytes;
  }
}

function modelsOf({ candidates }: RoutePlan): readonly string[] {
  return [...new Set(candidates.map(({ model }) => model.name))];
}

/** What of the way in which an answer comes two calls must have in common to be answered together. */
function formOf({ request, isStrict }: CompletionCall): string {
  const { include_usage: _usage, ...streaming } = request.stream_options ?? {};
  const isStream = request.stream === true;
  return JSON.stringify([isStrict, isStream, isStream ? streaming : {}]);
}

function routeOf(plan: RoutePlan, { request }: CompletionCall, { model, route }: AnswerFacts): RouteReason {
  const candidate = plan.candidates.find((each) => each.model.name === model);
  const reason = candidate && plan.reasonFor(candidate.model);
  const isAsked = model === request.model || model === request.models?.[0];
  return reason === undefined || (reason === 'requested' && !isAsked) ? route : reason;
}
