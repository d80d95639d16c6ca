import { type Answer, messages, postCompletion, readAnswer } from './completion-rig.js';
import { openTiers, providerAt } from './config-file.js';
import { type Coordinator, startConfigured } from './configured-coordinator.js';
import {
  chunk,
  completion,
  DONE,
  finish,
  json,
  type Script,
  type ScriptedUpstream,
  startScriptedUpstream,
  stream,
} from './scripted-upstream.js';

export interface RouteOptions {
  /** Names of providers, each a scripted upstream of its own. */
  readonly providers: readonly string[];
  /** Of the file; the first one is asked for unless a request says otherwise. */
  readonly models: readonly object[];
  /** More of the file; default: every model for everybody. */
  readonly file?: object;
  readonly environment?: Readonly<Record<string, string>>;
  /** What each of them plays from the start. Default: an answer. */
  readonly script?: Script;
  /** What every provider's entry adds. */
  readonly provider?: object;
  /** So many coordinators with the same settings. Default 1. */
  readonly pods?: number;
}

/** Coordinators before several scripted providers, and a raw client of them. */
export class RouteRig {
  private constructor(
    readonly pods: readonly Coordinator[],
    private readonly upstreams: ReadonlyMap<string, ScriptedUpstream>,
    private readonly model: string,
  ) {}

  static async start({ providers, script = asAsked('Hello!'), pods = 1, ...options }: RouteOptions): Promise<RouteRig> {
    const upstreams = new Map<string, ScriptedUpstream>();
    for (const name of providers) upstreams.set(name, await startScriptedUpstream(script));
    const { models, file, environment, provider } = options;
    const names = models.map(nameOf);
    const configured = {
      file: {
        providers: [...upstreams].map(([name, { url }]) => providerAt(name, url, provider)),
        models,
        tiers: openTiers(names),
        ...file,
      },
      keys: Object.fromEntries(providers.map((name) => [`${name.toUpperCase()}_KEY`, keyOf(name)])),
      ...(environment !== undefined && { environment }),
    };
    try {
      const coordinators = await Promise.all(Array.from({ length: pods }, () => startConfigured(configured)));
      return new RouteRig(coordinators, upstreams, names[0] ?? '');
    } catch (error) {
      await Promise.all([...upstreams.values()].map((upstream) => upstream.close()));
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.pods.map((pod) => pod.close()));
    await Promise.all([...this.upstreams.values()].map((upstream) => upstream.close()));
  }

  at(provider: string): ScriptedUpstream {
    const upstream = this.upstreams.get(provider);
    if (upstream === undefined) throw new RangeError(`no provider ${provider}`);
    return upstream;
  }

  play(scripts: Readonly<Record<string, Script>>): void {
    for (const [provider, script] of Object.entries(scripts)) this.at(provider).play(script);
  }

  /** How many completions each provider was asked for. */
  calls(): Readonly<Record<string, number>> {
    return Object.fromEntries(
      [...this.upstreams].map(([name, { requests }]) => [
        name,
        requests.filter(({ path }) => path.endsWith('/chat/completions')).length,
      ]),
    );
  }

  pod(index = 0): Coordinator {
    const pod = this.pods[index];
    if (pod === undefined) throw new RangeError(`no pod ${String(index)}`);
    return pod;
  }

  async ask(
    body: object = {},
    headers: Record<string, string> = {},
    { pod = 0, signal }: { readonly pod?: number; readonly signal?: AbortSignal } = {},
  ): Promise<Answer> {
    const whole = { model: this.model, messages, ...body };
    return readAnswer(await postCompletion(this.pod(pod).url, whole, headers, signal));
  }
}

/** The key of ours that a provider is called with. */
export function keyOf(provider: string): string {
  return `secret-key-of-${provider}-Zq81`;
}

/** One script for each call, the last one for all that follow. */
export function inTurn(...scripts: readonly [Script, ...Script[]]): Script {
  let call = 0;
  return (request, response) => {
    const script = scripts[Math.min(call, scripts.length - 1)] ?? scripts[0];
    call += 1;
    return script(request, response);
  };
}

/** Answers with a text, in JSON or as a stream, as the request wants it. */
export function asAsked(text: string): Script {
  const whole = json(200, completion(text));
  const streamed = stream([...Array.from(text, (character) => chunk(character)), finish(), DONE]);
  return (request, response) => (request.body['stream'] === true ? streamed : whole)(request, response);
}

function nameOf(model: object): string {
  return 'name' in model && typeof model.name === 'string' ? model.name : '';
}
