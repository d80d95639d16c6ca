import {
  AdmissionBusyError,
  type AdmissionObserver,
  AdmissionService,
  type AdmissionServiceOptions,
  type AdmissionStore,
  MemoryAdmissionStore,
  type Reservation,
  type Scope,
  type ScopeLimits,
  scopeRules,
  type Wish,
} from '../../src/admission/index.js';
import { UnreliableAdmission } from './unreliable-admission.js';

/** What an admission told its observer, in words. */
export class ToldAdmission implements AdmissionObserver {
  readonly told: string[] = [];
  waitingNow = 0;

  waiting(_kind: string, change: 1 | -1): void {
    this.waitingNow += change;
  }

  decided(kind: string, { outcome, isLocal }: Parameters<AdmissionObserver['decided']>[1]): void {
    this.told.push(`${outcome} ${kind}${isLocal ? ' by itself' : ''}`);
  }

  ended(kind: string, { end }: Parameters<AdmissionObserver['ended']>[1]): void {
    this.told.push(`${end} ${kind}`);
  }

  booked(scope: string, { unit, period, spentBefore, spentAfter }: Parameters<AdmissionObserver['booked']>[1]): void {
    this.told.push(`booked ${String(spentAfter - spentBefore)} ${unit} a ${period} on ${scope}`);
  }

  storeLost(): void {
    this.told.push('store lost');
  }

  storeAway(): void {
    this.told.push('store away');
  }

  storeBack(): void {
    this.told.push('store back');
  }
}

export interface AdmissionPod {
  readonly service: AdmissionService;
  readonly way: UnreliableAdmission;
  readonly observer: ToldAdmission;
}

/** Several admission services on one store, as pods would be; closed together. */
export class AdmissionPods {
  readonly #pods: AdmissionPod[] = [];

  constructor(readonly store: AdmissionStore = new MemoryAdmissionStore()) {}

  pod(options: AdmissionServiceOptions = {}): AdmissionPod {
    const way = new UnreliableAdmission(this.store);
    const observer = new ToldAdmission();
    const pod = { service: new AdmissionService(way, { graceMs: 0, observer, ...options }), way, observer };
    this.#pods.push(pod);
    return pod;
  }

  async close(): Promise<void> {
    for (const { way } of this.#pods) way.heal();
    await Promise.all(this.#pods.map(({ service }) => service.close()));
  }
}

export function scopeOf(limits: ScopeLimits, name = 'deployment:one'): Scope {
  return { name, rules: scopeRules(limits) };
}

/** A wish of one flow for a deployment that takes no tokens and waits half a minute. */
export function wishFor(scope: Scope, rest: Partial<Wish> = {}): Wish {
  return { scope, kind: 'deployment', flow: 'a', tokens: 0, waitMs: 30_000, holdMs: 60_000, ...rest };
}

/** Takes places until there are none; none of them is settled. */
export async function fill({ service }: AdmissionPod, wish: Wish): Promise<readonly Reservation[]> {
  const taken: Reservation[] = [];
  for (;;) {
    try {
      taken.push(await service.reserve({ ...wish, waitMs: 0 }));
    } catch (error) {
      if (error instanceof AdmissionBusyError) return taken;
      throw error;
    }
  }
}

/** The error of that class that something ends with. @throws {Error} where it ends with anything else */
export async function refusalOf<Refusal extends Error>(
  type: abstract new (...args: never[]) => Refusal,
  attempt: Promise<unknown>,
): Promise<Refusal> {
  try {
    await attempt;
  } catch (error) {
    if (error instanceof type) return error;
    throw error;
  }
  throw new Error(`it was not refused with ${type.name}`);
}
