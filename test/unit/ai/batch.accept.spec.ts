import { describe, expect, it } from '@jest/globals';
import { acceptsEvents } from '../../../src/ai/batch/accepted.events.js';

describe('acceptsEvents()', () => {
  it.each([
    'text/event-stream',
    'TEXT/Event-Stream; charset=utf-8',
    'application/json, text/event-stream',
    'text/event-stream;q=0.9, application/json ; q=0.8, */*;q=0.1',
  ])('takes events for what is wanted: %s', (accept) => {
    expect(acceptsEvents(accept)).toBe(true);
  });

  it.each([
    undefined,
    '',
    '*/*',
    'text/*',
    'application/json',
    'text/event-stream;q=0',
    '*/*, text/event-stream; q=0.0',
    'application/json, text/event-stream;q=0.5',
    'x-text/event-stream',
    'text/event-stream;q=x',
    ',;,q==',
  ])('answers JSON otherwise: %s', (accept) => {
    expect(acceptsEvents(accept)).toBe(false);
  });
});
