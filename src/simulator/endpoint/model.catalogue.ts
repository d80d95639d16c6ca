import type { TokenCounters } from '../../tokens/index.js';
import { ProviderError } from '../provider.error.js';
import { ReplyCounter } from '../reply/reply.counter.js';
import type { SimulatedModel } from '../simulator.options.js';

/** Unix seconds that every model claims as its birth. */
const CREATED = 1_735_689_600;

/** The models by name and alias. */
export class ModelCatalogue {
  private readonly byName = new Map<string, SimulatedModel>();

  /** @throws RangeError when a name is given twice. */
  constructor(
    private readonly models: readonly SimulatedModel[],
    private readonly counters: TokenCounters,
  ) {
    for (const model of models) {
      for (const name of [model.name, ...(model.aliases ?? [])]) {
        if (this.byName.has(name)) {
          throw new RangeError(`model name ${name} is given twice`);
        }
        this.byName.set(name, model);
      }
    }
  }

  find(name: unknown): SimulatedModel | undefined {
    return typeof name === 'string' ? this.byName.get(name) : undefined;
  }

  /** @throws ProviderError 404 model_not_found. */
  get(name: string): SimulatedModel {
    const model = this.byName.get(name);
    if (model === undefined) {
      const message = `The model \`${name}\` does not exist or you do not have access to it.`;
      throw new ProviderError(404, message, { code: 'model_not_found' });
    }
    return model;
  }

  /** Loads what counting needs, so that the first request is as fast as the others. */
  async warmUp(): Promise<void> {
    await Promise.all(this.models.map((model) => this.counterOf(model).count(model.name)));
  }

  /** @throws RangeError when the model's ratio is not a positive number. */
  counterOf(model: SimulatedModel): ReplyCounter {
    return new ReplyCounter(this.counters.for(model.tokenizer));
  }

  /** GET /v1/models. */
  list(): object {
    return { object: 'list', data: this.models.map(describe) };
  }

  /** GET /v1/models/{id}. @throws ProviderError 404. */
  describe(name: string): object {
    return describe(this.get(name));
  }
}

function describe(model: SimulatedModel): object {
  return { id: model.name, object: 'model', created: CREATED, owned_by: 'simulator' };
}
