import type { DynamicModule } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import type { Environment } from './environment.reader.js';

export interface ReadEnvironmentOptions {
  /** Read besides the process environment, which wins. Default: `.env` in the working directory, if there is one. */
  readonly envFilePath?: string;
}

/** What was read, and the module that lets every other module inject Nest's `ConfigService` for variables of its own. */
export interface ReadEnvironment {
  readonly environment: Environment;
  readonly module: DynamicModule;
}

/** Reads `.env` and the process environment, once. The only reader of `process.env` in the product. */
export async function readEnvironment(options: ReadEnvironmentOptions = {}): Promise<ReadEnvironment> {
  let environment: Environment = {};
  const module = await ConfigModule.forRoot({
    isGlobal: true,
    cache: true,
    ...options,
    validate: (variables: Record<string, unknown>) => {
      environment = Object.freeze(Object.fromEntries(Object.entries(variables).filter(isText)));
      return variables;
    },
  });
  return { environment, module };
}

function isText(entry: [string, unknown]): entry is [string, string] {
  return typeof entry[1] === 'string';
}
