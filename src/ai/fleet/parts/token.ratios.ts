import { RATIO_BOUNDS } from '../fleet.limits.js';
import { ratioTopic } from '../topics/ratio.topic.js';
import { type LinePorts, TopicLine } from '../view/topic.line.js';

const MICROS = 1_000_000;

/** By how much the providers count more tokens than we do, by model. See ratioTopic for how it is learned. */
export class TokenRatios {
  readonly line: TopicLine<number, number>;

  constructor(models: Iterable<string>, ports: LinePorts) {
    this.line = new TopicLine(ratioTopic, models, ports);
  }

  /** A provider said how many tokens were in a prompt that we had counted by the model's settings. */
  counted(model: string, { ours, providers }: { readonly ours: number; readonly providers: number }): void {
    if (!(ours > 0 && providers > 0)) return;
    this.line.note(model, Math.round(Math.min((providers / ours) * MICROS, RATIO_BOUNDS.most)));
  }

  /** Our count times this is rarely less than the provider's. From 0.5 to 3; 1 until something is known. */
  of(model: string): number {
    return (this.line.bodyOf(model) ?? RATIO_BOUNDS.unknown) / MICROS;
  }
}
