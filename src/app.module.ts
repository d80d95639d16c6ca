import { type DynamicModule, Module } from '@nestjs/common';
import type { Registry } from 'prom-client';
import { AdmissionMetrics } from './admission.metrics.js';
import { AdmissionModule, type AdmissionModuleOptions } from './admission/index.js';
import { AdminModule, type AdminModuleOptions } from './admin/index.js';
import { AiModule, Catalogue, ChatGenerator, StatusService } from './ai/index.js';
import { AuthModule } from './auth/index.js';
import { type Settings, SettingsModule } from './config/index.js';
import { ConversationModule, type ConversationModuleOptions } from './conversation/index.js';
import { HealthModule, type HealthOptions } from './health/index.js';
import { isLoopbackHost } from './http/index.js';
import { LockMetrics } from './lock.metrics.js';
import { LockModule, type LockModuleOptions } from './lock/index.js';
import {
  LOGGER,
  type Logger,
  type MetricsAddress,
  METRICS_REGISTRY,
  ObservabilityModule,
} from './observability/index.js';
import { type AnyStore, STORE, StoreModule, type StoreModuleOptions } from './store/index.js';
import { TokenCounters } from './tokens/index.js';

export interface AppModuleOptions {
  readonly settings: Settings;
  readonly environment: DynamicModule;
  readonly logger: Logger;
  /** The pod's phase, for readiness. */
  readonly phase: HealthOptions['phase'];
  /** Base URL of the simulator, where it is the upstream. */
  readonly simulatorUrl?: string;
}

/** Gives every module its part of the settings. */
@Module({})
export class AppModule {
  static forRoot({ settings, environment, logger, phase, simulatorUrl }: AppModuleOptions): DynamicModule {
    const { models, providers, tiers, attempts, cache, ledger, callers, issuers, server } = settings;
    const { requestDeadlineMs, shutdownGraceMs } = server;
    const upstream = simulatorUrl === undefined ? {} : { simulatorUrl };
    const ai = AiModule.forRoot({ models, providers, tiers, attempts, cache, ledger, requestDeadlineMs, ...upstream });
    return {
      module: AppModule,
      imports: [
        environment,
        SettingsModule.forRoot(settings),
        ObservabilityModule.forRoot({ logger, ...metricsAddress(server) }),
        StoreModule.forRoot(storeOptions(settings, logger)),
        locksOn(shutdownGraceMs),
        admissionOn(settings),
        AuthModule.forRoot({ callers, issuers, logger }),
        ai,
        conversationsOn(ai, settings),
        adminOf(ai),
        healthOf(ai, phase),
      ],
    };
  }
}

function metricsAddress({ host, metricsPort, loopbackHostsOnly }: Settings['server']): {
  metricsAddress?: MetricsAddress;
} {
  if (metricsPort === undefined) return {};
  const hosts = loopbackHostsOnly ? { isHostAllowed: isLoopbackHost } : {};
  return { metricsAddress: { host, port: metricsPort, ...hosts } };
}

function storeOptions({ store, models }: Settings, logger: Logger): StoreModuleOptions {
  if (store.kind === 'memory') return store;
  const limits = models.flatMap((model) => [model, ...model.deployments].map((each) => each.limits));
  return {
    ...store,
    policy: limits.some(({ whenStoreDown }) => whenStoreDown === 'refuse') ? 'refuse' : 'degrade',
    notify: (notice) => {
      logger.warn(notice);
    },
  };
}

/** Locks on the application's store, counted in its metrics. */
function locksOn(graceMs: number): DynamicModule {
  return LockModule.forRootAsync({
    inject: [STORE, METRICS_REGISTRY],
    useFactory: (store: AnyStore, registry: Registry): LockModuleOptions => ({
      store,
      observer: new LockMetrics(registry),
      graceMs,
    }),
  });
}

/** Limits and budgets on the application's store, counted in its metrics. */
function admissionOn({ expectedPods, server }: Settings): DynamicModule {
  return AdmissionModule.forRootAsync({
    inject: [STORE, METRICS_REGISTRY, LOGGER],
    useFactory: (store: AnyStore, registry: Registry, logger: Logger): AdmissionModuleOptions => ({
      store,
      observer: new AdmissionMetrics(registry, logger),
      pods: expectedPods,
      graceMs: server.shutdownGraceMs,
    }),
  });
}

/** Conversations on the application's store, answered as its callers' own completions are. */
function conversationsOn(ai: DynamicModule, { conversations, server }: Settings): DynamicModule {
  const { keepMs, maxInputTokens, replicas } = conversations;
  return ConversationModule.forRootAsync({
    imports: [ai],
    inject: [STORE, Catalogue, TokenCounters, ChatGenerator],
    useFactory: (
      store: AnyStore,
      catalogue: Catalogue,
      counters: TokenCounters,
      generator: ChatGenerator,
    ): ConversationModuleOptions => ({
      store,
      catalogue,
      counters,
      generator,
      keepMs,
      requestDeadlineMs: server.requestDeadlineMs,
      graceMs: server.shutdownGraceMs,
      ...(maxInputTokens !== undefined && { mostInput: maxInputTokens }),
      ...(replicas !== undefined && { durability: { replicas } }),
    }),
  });
}

/** What operators see of the upstreams. */
function adminOf(ai: DynamicModule): DynamicModule {
  return AdminModule.forRootAsync({
    imports: [ai],
    inject: [StatusService],
    useFactory: (status: StatusService): AdminModuleOptions => ({ status }),
  });
}

/** Readiness by the pod's phase and its store; the providers are listed beside it. */
function healthOf(ai: DynamicModule, phase: HealthOptions['phase']): DynamicModule {
  return HealthModule.forRootAsync({
    imports: [ai],
    inject: [STORE, Catalogue, StatusService],
    useFactory: (store: AnyStore, catalogue: Catalogue, status: StatusService): HealthOptions => ({
      phase,
      store: () => store.health(),
      upstreams: () =>
        catalogue.providers().map((provider) => ({
          provider,
          models: catalogue.modelsAt(provider),
          state: status.stateOf(provider),
        })),
    }),
  });
}
