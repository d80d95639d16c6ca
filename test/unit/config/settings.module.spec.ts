import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Inject, Injectable, Module } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { Test } from '@nestjs/testing';
import { SETTINGS, SettingsModule, readEnvironment, secretsOf, type Settings } from '../../../src/config/index.js';
import { load } from './sources.js';

@Injectable()
class Reader {
  constructor(
    @Inject(SETTINGS) readonly settings: Settings,
    readonly config: ConfigService,
  ) {}
}

@Module({ providers: [Reader], exports: [Reader] })
class DevelopersModule {}

const NAMES = ['COORDINATOR_TEST_A', 'COORDINATOR_TEST_B'] as const;

describe('SettingsModule and readEnvironment()', () => {
  afterEach(() => {
    for (const name of NAMES) Reflect.deleteProperty(process.env, name);
  });

  it('give settings and ConfigService to every module, .env included, the process environment first', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'coordinator-'));
    const envFilePath = join(directory, '.env');
    await writeFile(envFilePath, 'COORDINATOR_TEST_A=file\nCOORDINATOR_TEST_B="from file"\n');
    process.env['COORDINATOR_TEST_A'] = 'process';

    const { environment, module } = await readEnvironment({ envFilePath });
    expect(environment).toMatchObject({ COORDINATOR_TEST_A: 'process', COORDINATOR_TEST_B: 'from file' });
    expect(Object.isFrozen(environment)).toBe(true);

    const settings = load();
    const app = await Test.createTestingModule({
      imports: [module, SettingsModule.forRoot(settings), DevelopersModule],
    }).compile();
    const reader = app.get(Reader);
    expect(reader.settings).toBe(settings);
    expect(reader.config.get('COORDINATOR_TEST_B')).toBe('from file');
    await app.close();
    await rm(directory, { recursive: true });
  });
});

describe('secretsOf()', () => {
  it('lists keys and passwords in every spelling, and nothing else', () => {
    const account = JSON.stringify({
      type: 'service_account',
      client_email: 'a@p.example',
      private_key: '-----BEGIN\nabc',
    });
    const environment = {
      REDIS_SENTINELS: 's',
      REDIS_SENTINEL_MASTER: 'm',
      REDIS_PASSWORD: 'p@ss',
      REDIS_SENTINEL_PASSWORD: 'sentinel-pass',
      OPENAI_API_KEY: 'sk-1',
      VERTEX_CREDENTIALS: account,
      VERTEX_PROJECT: 'p1',
      CALLER_KEYS: 'app:pro:0123456789abcdef',
    };
    const secrets = secretsOf(load({ environment }));
    expect(secrets).toEqual(
      expect.arrayContaining([
        'sk-1',
        'p@ss',
        'p%40ss',
        'sentinel-pass',
        account,
        '-----BEGIN\nabc',
        '-----BEGIN\\nabc',
      ]),
    );
    expect(secrets.join()).not.toContain('0123456789abcdef');
  });

  it('is empty without secrets', () => {
    expect(secretsOf(load())).toEqual([]);
  });
});
