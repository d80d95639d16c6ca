import { HttpModule } from '@nestjs/axios';
import {
  type BeforeApplicationShutdown,
  type DynamicModule,
  Inject,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { LOGGER, type Logger } from '../observability/index.js';
import { type AnyStore, STORE } from '../store/index.js';
import { TokenCounters } from '../tokens/index.js';
import { AI_OPTIONS, type AiOptions } from './ai.options.js';
import { BatchController } from './batch/batch.controller.js';
import { BATCH_PROVIDERS } from './batch/batch.providers.js';
import { Catalogue } from './catalogue/catalogue.js';
import { CallAccounts } from './call/call.accounts.js';
import { CallDesk } from './call/call.desk.js';
import { CompletionObserver } from './call/completion.observer.js';
import { CompletionRouter } from './call/completion.router.js';
import { CompletionService } from './call/completion.service.js';
import { DryRunService } from './call/dry-run.service.js';
import { PromptGauge } from './call/prompt.gauge.js';
import { UpstreamGate } from './call/upstream.gate.js';
import { ChatController } from './endpoint/chat.controller.js';
import { ModelsController } from './endpoint/models.controller.js';
import { FleetMetrics } from './fleet/fleet.metrics.js';
import { Fleet, fleetStoreOn } from './fleet/index.js';
import { ChatGenerator } from './generation/chat.generator.js';
import { KeyService } from './keys/key.service.js';
import { ledgerProviders } from './ledger/ledger.providers.js';
import { UsageController } from './ledger/usage.controller.js';
import { LimitMetrics } from './quota/limit.metrics.js';
import { LearnedMetrics } from './quota/learned.metrics.js';
import { LimitLearner } from './quota/limit.learner.js';
import { QuotaAccounts } from './quota/quota.accounts.js';
import { QuotaScopes } from './quota/quota.scopes.js';
import { reuseProviders } from './reuse/reuse.providers.js';
import { ReuseService } from './reuse/reuse.service.js';
import { StatusService } from './status/status.service.js';
import { ADAPTERS, type Adapters } from './upstream/adapters.js';
import { AnthropicAdapter } from './upstream/anthropic/anthropic.adapter.js';
import { azureAddress } from './upstream/azure/azure.address.js';
import { OpenAiAdapter } from './upstream/openai.adapter.js';
import { UndiciTransport } from './upstream/undici.transport.js';
import { VertexAdapter } from './upstream/vertex/vertex.adapter.js';

/** The client for all providers, and the endpoints that speak OpenAI's wire format. */
@Module({
  providers: [
    CompletionService,
    CompletionRouter,
    CompletionObserver,
    DryRunService,
    FleetMetrics,
    KeyService,
    LimitMetrics,
    LearnedMetrics,
    LimitLearner,
    PromptGauge,
    StatusService,
    UpstreamGate,
    CallAccounts,
    ChatGenerator,
    CallDesk,
    QuotaAccounts,
    QuotaScopes,
    ...BATCH_PROVIDERS,
  ],
  controllers: [BatchController, ChatController, ModelsController, UsageController],
  exports: [Catalogue, ChatGenerator, StatusService, TokenCounters],
})
export class AiModule implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown {
  constructor(
    @Inject(UndiciTransport) private readonly transport: UndiciTransport,
    private readonly fleet: Fleet,
    private readonly reuse: ReuseService,
    private readonly accounts: CallAccounts,
  ) {}

  static forRoot(options: AiOptions): DynamicModule {
    const transport = new UndiciTransport(privateHostsOf(options));
    return {
      module: AiModule,
      imports: [
        HttpModule.register({
          adapter: transport.adapter,
          // Every status is an answer, and bodies pass as they are.
          validateStatus: null,
          transformRequest: [],
          transformResponse: [],
        }),
      ],
      providers: [
        { provide: AI_OPTIONS, useValue: options },
        { provide: UndiciTransport, useValue: transport },
        { provide: ADAPTERS, useValue: adaptersOver(transport) },
        { provide: Catalogue, inject: [LOGGER], useFactory: (logger: Logger) => catalogueOf(options, logger) },
        { provide: Fleet, inject: [STORE, Catalogue, FleetMetrics], useFactory: fleetOf },
        { provide: TokenCounters, useFactory: () => new TokenCounters() },
        ...reuseProviders(options),
        ...ledgerProviders(options.ledger.keepMs),
      ],
    };
  }

  /** What the other pods know, before the first call where the store answers; it is not waited for. */
  onApplicationBootstrap(): void {
    void this.fleet.start();
  }

  /** While the store's connections are still there. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.reuse.close();
    await this.accounts.close();
    await this.fleet.close();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.transport.close();
  }
}

function privateHostsOf({ providers }: AiOptions): ReadonlySet<string> {
  // The URL of one without a key may be incomplete.
  const meant = providers.filter(({ allowPrivate, apiKeys }) => allowPrivate && apiKeys.length > 0);
  return new Set(meant.map(({ baseUrl }) => new URL(baseUrl).hostname));
}

function adaptersOver(transport: UndiciTransport): Adapters {
  return {
    openai: new OpenAiAdapter(transport),
    azure: new OpenAiAdapter(transport, azureAddress),
    anthropic: new AnthropicAdapter(transport),
    vertex: new VertexAdapter(transport),
  };
}

function catalogueOf(options: AiOptions, logger: Logger): Catalogue {
  const ranOut = (provider: string, pattern: string): void => {
    logger.warn({ provider, pattern }, 'one of contextErrorPatterns takes too long, and counts as no match');
  };
  return new Catalogue({ ...options, now: Date.now, ranOut });
}

function fleetOf(store: AnyStore, catalogue: Catalogue, observer: FleetMetrics): Fleet {
  return new Fleet({
    store: fleetStoreOn(store),
    deployments: catalogue.deployments().map(({ id, upstream }) => ({ id, key: upstream.keyId })),
    models: catalogue.models.map(({ name, timeouts }) => ({ name, firstTokenMs: timeouts.firstTokenMs })),
    observer,
  });
}
