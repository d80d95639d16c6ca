import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { BackgroundWriter } from '../../../src/observability/log.destination.js';

/** A pipe with room for so many bytes. */
class Pipe {
  taken = '';
  room = Infinity;
  fault: string | undefined;

  readonly put = (bytes: Buffer): number => {
    if (this.fault !== undefined) throw Object.assign(new Error('write'), { code: this.fault });
    if (this.room === 0) throw Object.assign(new Error('write'), { code: 'EAGAIN' });
    const count = Math.min(this.room, bytes.length);
    this.taken += bytes.toString('latin1', 0, count);
    this.room -= count;
    return count;
  };
}

describe('BackgroundWriter', () => {
  let pipe: Pipe;
  let writer: BackgroundWriter;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['performance'] });
    pipe = new Pipe();
    writer = new BackgroundWriter(pipe.put);
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('writes the lines of one turn at once, in order', () => {
    writer.write('a\n');
    writer.write('b\n');
    expect(pipe.taken).toBe('');
    jest.runAllTimers();
    writer.write('c\n');
    jest.runAllTimers();
    expect(pipe.taken).toBe('a\nb\nc\n');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('goes on in the middle of a line when a full pipe has room again', () => {
    pipe.room = 3;
    writer.write('ab\ncd\n');
    jest.advanceTimersByTime(1_000);
    writer.write('ef\n');
    expect(pipe.taken).toBe('ab\n');
    pipe.room = 2;
    jest.advanceTimersByTime(1_000);
    expect(pipe.taken).toBe('ab\ncd');
    pipe.room = Infinity;
    jest.advanceTimersByTime(1_000);
    expect(pipe.taken).toBe('ab\ncd\nef\n');
  });

  it('keeps no more than 16 MB for a reader that does not come', () => {
    pipe.room = 0;
    const line = `${'x'.repeat(1_000_000)}\n`;
    for (let count = 0; count < 100; count += 1) writer.write(line);
    jest.advanceTimersByTime(1_000);
    pipe.room = Infinity;
    jest.advanceTimersByTime(1_000);
    expect(pipe.taken.length).toBeLessThan(18_000_000);
    writer.write('and on\n');
    jest.advanceTimersByTime(1_000);
    expect(pipe.taken.endsWith('\nand on\n')).toBe(true);
  });

  it('flushes what is left, and gives up on a pipe that stays full', () => {
    writer.write('a\n');
    writer.flush();
    expect(pipe.taken).toBe('a\n');
    pipe.room = 0;
    writer.write('b\n');
    writer.flush();
    expect(pipe.taken).toBe('a\n');
  });

  it('survives a reader that is gone', () => {
    pipe.fault = 'EPIPE';
    writer.write('a\n');
    jest.runAllTimers();
    writer.flush();
    pipe.fault = undefined;
    writer.write('b\n');
    jest.runAllTimers();
    expect(pipe.taken).toBe('b\n');
  });
});
