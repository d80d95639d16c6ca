import type { LoggerService } from '@nestjs/common';
import type { Level } from 'pino';
import { isError, withoutQuotes } from './error.serializer.js';
import type { Logger } from './logger.js';

/** Nest says one line per module and route at boot; an operator wants them only when looking for something. */
const CHATTY_CONTEXTS = new Set(['InstanceLoader', 'NestFactory', 'RouterExplorer', 'RoutesResolver']);

/**
 * Nest's own logging, and that of `new Logger(context)` in any class, through ours: JSON, redacted, with `context` as a field.
 *
 * @example
 * NestFactory.create(AppModule, adapter, { logger: new NestLogger(logger) })
 */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    const context = contextOf(rest);
    this.write(context !== undefined && CHATTY_CONTEXTS.has(context) ? 'debug' : 'info', message, context);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, contextOf(rest));
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, contextOf(rest));
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, contextOf(rest));
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, contextOf(rest), stackOf(rest));
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, contextOf(rest), stackOf(rest));
  }

  private write(level: Level, message: unknown, context?: string, stack?: string): void {
    const fields = {
      ...(context === undefined ? {} : { context }),
      ...(stack === undefined ? {} : { stack: withoutQuotes(stack) }),
    };
    if (typeof message === 'string') this.logger[level](fields, withoutQuotes(message));
    else if (isError(message)) this.logger[level]({ ...fields, err: message }, withoutQuotes(message.message));
    else this.logger[level]({ ...fields, detail: message });
  }
}

/** Nest passes the context last; with `error(message, stack)` alone, a lone stack stands in its place. */
function contextOf(rest: readonly unknown[]): string | undefined {
  const last = rest.at(-1);
  return typeof last === 'string' && !isStack(last) ? last : undefined;
}

function stackOf(rest: readonly unknown[]): string | undefined {
  return rest.find((item): item is string => typeof item === 'string' && isStack(item));
}

function isStack(text: string): boolean {
  return text.includes('\n    at ');
}
