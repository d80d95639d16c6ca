import { type DynamicModule, Module } from '@nestjs/common';
import { BUDGET_READER, type BudgetReader } from '../../src/ai/ledger/budget.reader.js';
import { Ledger } from '../../src/ai/ledger/ledger.js';
import { ledgerProviders } from '../../src/ai/ledger/ledger.providers.js';
import { LEDGER_STORE, type LedgerStore } from '../../src/ai/ledger/ledger.store.js';
import { UsageController } from '../../src/ai/ledger/usage.controller.js';
import { AdmissionModule } from '../../src/admission/index.js';
import { AuthModule, configureAuth } from '../../src/auth/index.js';
import { serveDocs } from '../../src/http/index.js';
import { createLogger, ObservabilityModule } from '../../src/observability/index.js';
import { StoreModule } from '../../src/store/index.js';
import { callerWithKey } from './callers.js';
import { type HttpApp, startHttpApp } from './http-app.js';
import { OpenApiDocument } from './openapi-document.js';
import { type Json, record } from './schema.checker.js';

export const OPERATOR = 'operator-key-0123456789';
export const FRONTEND = 'frontend-key-0123456789';
/** Has no scopes. */
export const NEITHER = 'neither-key-0123456789';

const callers = [
  callerWithKey(OPERATOR, { name: 'ops', scopes: ['admin'] }),
  callerWithKey(FRONTEND, { name: 'acme', scopes: ['chat'] }),
  callerWithKey(NEITHER, { name: 'idle', scopes: [] }),
];

@Module({ controllers: [UsageController] })
class UsageModule {}

/** An answer, line by line. */
export interface Lines {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly lines: readonly Json[];
}

/** The endpoints of the ledger on a store of their own, and callers of them. */
export class UsageApp {
  private constructor(
    private readonly server: HttpApp,
    readonly document: OpenApiDocument,
  ) {}

  static async start(budgets: BudgetReader): Promise<UsageApp> {
    const logger = createLogger({ level: 'silent', secrets: [] }, { write: () => undefined });
    const usage: DynamicModule = {
      module: UsageModule,
      providers: [...ledgerProviders(35 * 86_400_000), { provide: BUDGET_READER, useValue: budgets }],
    };
    const server = await startHttpApp({
      imports: [
        ObservabilityModule.forRoot({ logger }),
        StoreModule.forRoot({ kind: 'memory' }),
        AdmissionModule.forRoot({}),
        AuthModule.forRoot({ callers }),
        usage,
      ],
      prepare: (app) => {
        configureAuth(app);
        serveDocs(app, { version: '1.2.3' });
      },
    });
    return new UsageApp(server, await OpenApiDocument.of(server.url));
  }

  get url(): string {
    return this.server.url;
  }

  get ledger(): Ledger {
    return this.server.app.get(Ledger, { strict: false });
  }

  get store(): LedgerStore {
    return this.server.app.get<LedgerStore>(LEDGER_STORE, { strict: false });
  }

  /** @param path - behind /v1/usage */
  async ask(path: string, key = FRONTEND): Promise<Lines> {
    const response = await fetch(`${this.url}/v1/usage${path}`, { headers: { authorization: `Bearer ${key}` } });
    const text = await response.text();
    const lines = text.split('\n').filter((line) => line !== '');
    const { status, headers } = response;
    return { status, headers, text, lines: lines.map((line) => record(JSON.parse(line))) };
  }

  close(): Promise<void> {
    return this.server.close();
  }
}

/** What the answer's last line says went wrong. */
export function errorOf({ lines }: Lines): Json {
  return record(lines.at(-1)?.['error']);
}
