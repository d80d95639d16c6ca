import { describe, expect, it } from '@jest/globals';
import { parseCliOptions, USAGE } from '../../../src/simulator/cli.options.js';

describe('parseCliOptions()', () => {
  it('has a default for everything', () => {
    expect(parseCliOptions([])).toEqual({
      port: 9090,
      speed: 1,
      seed: 1,
      apiKeys: [],
      limits: {},
      configFile: undefined,
      wantsHelp: false,
    });
  });

  it('reads every option', () => {
    const words =
      '--port 0 --speed 0.5 --seed 7 --key a --key b --limit gpt-4.1:rpm=60,tpm=9 --limit llama3:8b:rpm=1 --limit concurrency=5 --config models.yaml --help'.split(
        ' ',
      );
    expect(parseCliOptions(words)).toEqual({
      port: 0,
      speed: 0.5,
      seed: 7,
      apiKeys: ['a', 'b'],
      limits: { 'gpt-4.1': 'rpm=60,tpm=9', 'llama3:8b': 'rpm=1', '*': 'concurrency=5' },
      configFile: 'models.yaml',
      wantsHelp: true,
    });
  });

  it.each([
    [['--port', '70000'], '--port'],
    [['--port', 'x'], '--port'],
    [['--speed', ''], '--speed'],
    [['--seeds', '1'], '--seeds'],
    [['--limit', 'rpm=1', '--limit', 'tpm=1'], 'twice'],
  ])('refuses %j', (words, named) => {
    expect(() => parseCliOptions(words)).toThrow(named);
  });

  it('documents every option', () => {
    for (const option of ['port', 'speed', 'seed', 'key', 'limit', 'config', 'help'])
      expect(USAGE).toContain(`--${option}`);
  });
});
