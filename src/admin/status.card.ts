import type { DeploymentStatus, KeyStatus, ModelStatus, PodStatus, Status } from '../ai/index.js';
import type { KeyStatusCard, PodCard, StatusCard } from './status.dto.js';
import type { DeploymentCard, LimitsCard, ModelStatusCard } from './status.models.dto.js';

/**
 * What a pod knows of the upstreams, as operators see it.
 *
 * @param process - what the pod is called where it holds a lock
 */
export function statusCard({ pod, keys, models }: Status, process: string): StatusCard {
  return { object: 'status', pod: podCard(pod, process), upstreams: keys.map(keyCard), models: models.map(modelCard) };
}

function podCard(pod: PodStatus, process: string): PodCard {
  const { startedAt, isSimulated, isAlone, inFlight, requestDeadlineMs, attempts } = pod;
  return {
    process,
    started_at: new Date(Math.floor(startedAt)).toISOString(),
    upstream: isSimulated ? 'simulator' : 'providers',
    knowledge: isAlone ? 'own' : 'shared',
    in_flight: inFlight,
    request_deadline_ms: requestDeadlineMs,
    attempts: { per_request: attempts.perRequest, per_deployment: attempts.perDeployment },
  };
}

function keyCard({ provider, key, kind, state, worth, parking }: KeyStatus): KeyStatusCard {
  const { reason = null, leftMs = 0 } = parking ?? {};
  return { provider, key, kind, state, ...quotaOf(worth), parked: reason, parked_left_ms: leftMs };
}

function quotaOf(worth: KeyStatus['worth']): Pick<KeyStatusCard, 'tier' | 'quota_left' | 'quota_unit' | 'stale'> {
  if (worth === undefined) return { tier: null, quota_left: null, quota_unit: null, stale: false };
  const { tier, remaining, unit, isStale } = worth;
  const isTold = remaining !== undefined;
  return { tier, quota_left: isTold ? remaining : null, quota_unit: isTold ? unit : null, stale: isStale };
}

function modelCard({
  model,
  limits,
  timeouts,
  latency,
  answerLimitMs,
  tokenRatio,
  deployments,
}: ModelStatus): ModelStatusCard {
  const { firstTokenLimitMs, meanFirstTokenMs, tokensPerSecond } = latency;
  return {
    model,
    timeouts: {
      connect_ms: timeouts.connectMs,
      first_token_ms: firstTokenLimitMs,
      first_token_learned: meanFirstTokenMs !== undefined,
      answer_ms: answerLimitMs,
      idle_ms: timeouts.idleMs,
    },
    latency: {
      mean_first_token_ms: meanFirstTokenMs === undefined ? null : Math.round(meanFirstTokenMs),
      tokens_per_second: tokensPerSecond === undefined ? null : Math.round(tokensPerSecond * 10) / 10,
    },
    token_ratio: tokenRatio,
    limits: limitsCard(limits),
    deployments: deployments.map(deploymentCard),
  };
}

function deploymentCard(status: DeploymentStatus): DeploymentCard {
  const {
    deployment,
    provider,
    key,
    standing,
    inFlight,
    limits,
    rateLimits,
    learned,
    shutdownAt,
    successor = null,
  } = status;
  return {
    deployment,
    provider,
    key,
    state: standing.state,
    retry_after_ms: standing.retryAfterMs,
    last_failure: standing.code ?? null,
    in_flight: inFlight,
    limits: limitsCard(limits),
    learned_limits: learned === undefined ? null : { rpm: learned.requests ?? null, tpm: learned.tokens ?? null },
    rate_limits: rateLimits.map(({ unit, limit = null, remaining, resetMs }) => ({
      unit,
      limit,
      remaining,
      reset_ms: resetMs,
    })),
    shutdown_date: shutdownAt === undefined ? null : new Date(shutdownAt).toISOString().slice(0, 10),
    successor,
  };
}

function limitsCard({ rpm, tpm, concurrency }: ModelStatus['limits']): LimitsCard {
  return { rpm: rpm ?? null, tpm: tpm ?? null, concurrency: concurrency ?? null };
}
