import { describe, expect, it } from '@jest/globals';
import { Logger as NestLoggerFacade, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createLogger, NestLogger } from '../../../src/observability/index.js';
import { LogLines } from '../../support/log-lines.js';

@Module({})
class EmptyModule {}

function setUp(): { log: LogLines; nest: NestLogger } {
  const log = new LogLines();
  return { log, nest: new NestLogger(createLogger({ level: 'trace', secrets: [] }, log)) };
}

describe('NestLogger', () => {
  it.each([
    ['log', 'info'],
    ['warn', 'warn'],
    ['error', 'error'],
    ['debug', 'debug'],
    ['verbose', 'trace'],
    ['fatal', 'fatal'],
  ] as const)('writes %s() at level %s with the context as a field', (method, level) => {
    const { log, nest } = setUp();
    nest[method]('hello', 'Context');
    expect(log.records).toMatchObject([{ level, context: 'Context', msg: 'hello' }]);
  });

  it('writes an error with its stack, as Nest 11 passes it', () => {
    const { log, nest } = setUp();
    nest.error(new Error('boom'), 'ExceptionsHandler');
    expect(log.records).toMatchObject([
      {
        level: 'error',
        context: 'ExceptionsHandler',
        msg: 'boom',
        err: { type: 'Error', stack: expect.stringContaining('boom') },
      },
    ]);
  });

  it('writes nothing of a text that was no JSON, however Nest passes it on', () => {
    const { log, nest } = setUp();
    const stack = 'SyntaxError: Unexpected token \'A\', "ANSWER: my" is not valid JSON\n    at JSON.parse';
    nest.error(new SyntaxError('Unexpected token \'A\', "ANSWER: my" is not valid JSON'), 'Context');
    nest.error('Unexpected token \'A\', ..."x ANSWER"... is not valid JSON', stack, 'Context');
    expect(log.records).toHaveLength(2);
    expect(log.text).not.toContain('ANSWER');
  });

  it('tells a stack from a context', () => {
    const { log, nest } = setUp();
    const stack = 'Error: boom\n    at somewhere';
    nest.error('boom', stack, 'Context');
    nest.error('boom', stack);
    expect(log.records[0]).toMatchObject({ context: 'Context', stack });
    expect(log.records[1]).toMatchObject({ stack });
    expect(log.records[1]).not.toHaveProperty('context');
  });

  it('writes an object as a field', () => {
    const { log, nest } = setUp();
    nest.log({ a: 1 }, 'Context');
    expect(log.records).toMatchObject([{ detail: { a: 1 }, context: 'Context' }]);
  });

  it("makes Nest's own boot lines JSON and keeps the chatty ones at debug", async () => {
    const { log, nest } = setUp();
    const context = await NestFactory.createApplicationContext(EmptyModule, { logger: nest });
    new NestLoggerFacade('Mine').log('hello');
    await context.close();
    expect(log.records).toContainEqual(expect.objectContaining({ level: 'debug', context: 'InstanceLoader' }));
    expect(log.records).toContainEqual(expect.objectContaining({ level: 'info', context: 'Mine', msg: 'hello' }));
  });
});
