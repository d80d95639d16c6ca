import { inspect } from 'node:util';

/** A script answered what it can't: what it met in the store is damaged. */
export class ConversationReplyError extends TypeError {
  override readonly name = 'ConversationReplyError';
  readonly isRetryable = false;
}

/** Takes a script's flat reply apart, value by value. Every method throws a ConversationReplyError where the script answered something else. */
export class ReplyReader {
  private readonly values: readonly unknown[];
  private position = 0;

  constructor(
    private readonly script: string,
    reply: unknown,
  ) {
    if (!Array.isArray(reply)) throw this.fault(reply);
    this.values = reply;
  }

  isEmpty(): boolean {
    return this.position >= this.values.length;
  }

  integer(): number {
    const value = this.next();
    const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isSafeInteger(number)) throw this.fault(value);
    return number;
  }

  text(): string {
    const value = this.next();
    if (typeof value !== 'string') throw this.fault(value);
    return value;
  }

  optionalText(): string | undefined {
    const value = this.next();
    if (value !== null && typeof value !== 'string') throw this.fault(value);
    return value ?? undefined;
  }

  fault(value: unknown): ConversationReplyError {
    return new ConversationReplyError(`${this.script}.lua answered ${inspect(value)} where that cannot be`);
  }

  private next(): unknown {
    const value = this.values[this.position];
    this.position += 1;
    return value;
  }
}
