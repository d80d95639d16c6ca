import {
  AdmissionBusyError,
  AdmissionStoreError,
  type AdmissionServiceOptions,
  type Wish,
} from '../../src/admission/index.js';
import { StoreUnavailableError } from '../../src/store/index.js';
import { type AdmissionPod, type AdmissionPods, scopeOf, wishFor } from './admission-pods.js';
import { pass } from './pass.js';
import type { AdmissionFault } from './unreliable-admission.js';

export const DOWN = { fails: new StoreUnavailableError('connection refused') };

/** A pod whose store has been away for longer than anybody's patience. */
export async function leftAlone(
  pods: AdmissionPods,
  options: AdmissionServiceOptions,
  fault: AdmissionFault = DOWN,
): Promise<AdmissionPod> {
  const pod = pods.pod(options);
  pod.way.always(fault);
  const wish = wishFor(scopeOf({ concurrency: 1 }, 'other'), { whenStoreDown: 'refuse' });
  await pod.service.reserve(wish).catch(ignoreOutage);
  await pass(1_100);
  return pod;
}

/** How many are let in within so long, asked for every 10 ms. */
export async function admittedWithin({ service }: AdmissionPod, wish: Wish, forMs: number): Promise<number> {
  let count = 0;
  for (let passed = 0; passed < forMs; passed += 10) {
    try {
      await (await service.reserve({ ...wish, waitMs: 0 })).settle();
      count += 1;
    } catch (error) {
      if (!(error instanceof AdmissionBusyError)) throw error;
    }
    await pass(10);
  }
  return count;
}

function ignoreOutage(error: unknown): void {
  if (!(error instanceof AdmissionStoreError)) throw error;
}
