import { Agent, fetch } from 'undici';

/** At one time. */
const LANES = 32;
/** Within it the request has reached the provider, which says nothing. */
const LEAVE_MS = 20;

/** How a request of the soak ended, as its client saw it. */
export type SoakOutcome = 'answered' | 'streamed' | 'refused' | 'broken' | 'left';

/** What is asked of the provider: the simulator's scripts by the mark that a request carries in its text. */
export const SOAK_SCRIPTS: readonly object[] = [
  { contains: 'soak-status', status: 500 },
  { contains: 'soak-limit', status: 429 },
  { contains: 'soak-reset', reset: true },
  { contains: 'soak-garbage', garbageBody: true },
  { contains: 'soak-cut', cutAfterFrames: 5 },
  { contains: 'soak-error', errorAfterFrames: 5 },
  { contains: 'soak-mute', neverAnswer: true },
  { contains: 'soak-stall', stallAfterFrames: 5 },
].map((script) => ({ ...script, times: 'always' }));

interface SoakRequest {
  readonly mark: string;
  readonly stream: boolean;
  /** Those that it may have. */
  readonly outcomes: readonly SoakOutcome[];
  readonly model: string;
}

const MODEL = 'gpt-4.1';
/** A model of its own for what fails: its deployment is left alone most of the time, and its calls are refused at once. */
const FAILING_MODEL = 'deepseek-v3.2';
export const SOAK_MODELS = [MODEL, FAILING_MODEL];

const FINE: readonly SoakRequest[] = [
  { mark: 'fine', stream: false, outcomes: ['answered'], model: MODEL },
  { mark: 'fine', stream: true, outcomes: ['streamed'], model: MODEL },
];
const LEAVING: readonly SoakRequest[] = [
  { mark: 'soak-mute', stream: false, outcomes: ['left'], model: MODEL },
  { mark: 'soak-stall', stream: true, outcomes: ['left'], model: MODEL },
  { mark: 'soak-mute', stream: true, outcomes: ['left'], model: MODEL },
];
const FAILING: readonly SoakRequest[] = [
  { mark: 'soak-status', stream: false, outcomes: ['refused'], model: FAILING_MODEL },
  { mark: 'soak-cut', stream: true, outcomes: ['refused', 'broken'], model: FAILING_MODEL },
  { mark: 'soak-limit', stream: true, outcomes: ['refused'], model: FAILING_MODEL },
  { mark: 'soak-error', stream: true, outcomes: ['refused', 'broken'], model: FAILING_MODEL },
  { mark: 'soak-reset', stream: true, outcomes: ['refused'], model: FAILING_MODEL },
  { mark: 'soak-garbage', stream: false, outcomes: ['refused'], model: FAILING_MODEL },
];

/**
 * Sends so many requests: a tenth is left by the client, a tenth fails at the provider, the rest is half JSON, half streams.
 *
 * @returns how many ended as they were meant to, by outcome, and what else happened
 */
export async function soak(
  url: string,
  requests: number,
): Promise<{ readonly counts: Readonly<Record<string, number>>; readonly surprises: readonly string[] }> {
  const agent = new Agent({ connections: LANES });
  const counts: Record<string, number> = {};
  const surprises: string[] = [];
  const indexes = Array.from({ length: requests }, (_, index) => index).values();
  const lane = async (): Promise<void> => {
    for (const index of indexes) {
      const request = requestAt(index);
      const outcome = await send(url, request, index, agent);
      if (isOneOf(request.outcomes, outcome)) counts[outcome] = (counts[outcome] ?? 0) + 1;
      else surprises.push(`${request.mark}: ${outcome}`);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  await agent.close();
  return { counts, surprises };
}

function isOneOf(outcomes: readonly string[], outcome: string): boolean {
  return outcomes.includes(outcome);
}

function requestAt(index: number): SoakRequest {
  const tens = Math.floor(index / 10);
  const kinds = { 3: LEAVING, 7: FAILING }[index % 10] ?? FINE;
  const request = kinds[(kinds === FINE ? index + tens : tens) % kinds.length];
  if (request === undefined) throw new RangeError(`no request ${String(index)}`);
  return request;
}

async function send(url: string, request: SoakRequest, index: number, dispatcher: Agent): Promise<string> {
  const { mark, stream, outcomes, model } = request;
  const leaving = new AbortController();
  const leave = (): void => {
    leaving.abort();
  };
  const timer = mark === 'soak-mute' ? setTimeout(leave, LEAVE_MS) : undefined;
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-coordinator-strict': 'true' },
      body: JSON.stringify({
        model,
        stream,
        messages: [{ role: 'user', content: `words:40 ${mark} ${String(index)}` }],
      }),
      signal: leaving.signal,
      dispatcher,
    });
    if (mark === 'soak-stall') {
      await response.body?.getReader().read();
      leave();
    }
    return outcomeOf(response.status, await response.text());
  } catch (error) {
    return outcomes.includes('left') && leaving.signal.aborted ? 'left' : String(error);
  } finally {
    clearTimeout(timer);
  }
}

/** The outcome, or the text that is none of them. */
function outcomeOf(status: number, text: string): string {
  if (status !== 200) return text.startsWith('{"error"') ? 'refused' : text;
  if (text.includes('"object":"chat.completion"')) return 'answered';
  if (text.endsWith('data: [DONE]\n\n')) return 'streamed';
  return text.includes('data: {"error"') ? 'broken' : text;
}
