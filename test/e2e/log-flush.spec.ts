import { describe, expect, it } from '@jest/globals';
import { plantProject, ROOT } from '../support/planted-project.js';

describe('createLogger() on standard output', () => {
  it.each(['process.exit(3);', 'process.exitCode = 3;', "setImmediate(() => { throw new Error('last words'); });"])(
    'has written every line when the process ends by %s',
    async (ending) => {
      const project = await plantProject({
        'talk.mjs': `
          import { createLogger } from ${JSON.stringify(`${ROOT}dist/observability/index.js`)};
          const logger = createLogger({ level: 'info', secrets: [] });
          for (let index = 0; index < 5000; index += 1) logger.info({ index }, 'line');
          ${ending}`,
      });
      const { code, output } = await project.run('talk.mjs');
      await project.remove();
      const lines = output.trimEnd().split('\n');
      expect(code).not.toBe(0);
      expect(lines).toHaveLength(5000);
      expect(JSON.parse(lines[4999] ?? '')).toMatchObject({ index: 4999, msg: 'line' });
    },
  );
});
