import { type DestinationStream, type Logger as PinoLogger, pino, stdTimeFunctions } from 'pino';
import type { LogLevel } from '../config/index.js';
import { isError, serializeError } from './error.serializer.js';
import { standardOutput } from './log.destination.js';
import { createLineRedactor } from './redaction.js';
import { visibleLine } from './visible.line.js';

export type Logger = PinoLogger;

/** Injects the process's {@link Logger}. */
export const LOGGER = Symbol('LOGGER');

export interface LoggerOptions {
  /** Lines below it are not written. */
  readonly level: LogLevel;
  /** Taken out of every line, wherever they stand. */
  readonly secrets: readonly string[];
}

/**
 * A logger that writes one JSON object per line, `{"level":"info","time":"2026-…Z",…,"msg":"…"}`, with errors under `err` and
 * without secrets: see {@link serializeError}, {@link createLineRedactor} and {@link visibleLine}. Lines are written in the background and flushed when
 * the process exits, unless nobody reads them.
 *
 * @param destination where lines go; standard output by default.
 */
export function createLogger(options: LoggerOptions, destination?: DestinationStream): Logger {
  const redact = createLineRedactor(options.secrets);
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      // Errors are serialised below, under whatever name they come.
      serializers: { err: (value: unknown) => value },
      formatters: { level: (level) => ({ level }), log: serializeErrors },
      hooks: { streamWrite: (line) => visibleLine(redact(line)) },
    },
    destination ?? standardOutput(),
  );
}

/** Asked for every line, and hardly any has an error in it. */
function serializeErrors(fields: Record<string, unknown>): Record<string, unknown> {
  let serialized: Record<string, unknown> | undefined;
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (typeof value !== 'object' || !isError(value)) continue;
    serialized ??= { ...fields };
    serialized[name] = serializeError(value);
  }
  return serialized ?? fields;
}
