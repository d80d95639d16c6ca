import { Injectable } from '@nestjs/common';
import { AdmissionService } from '../../admission/index.js';
import type { ModelSettings } from '../../config/index.js';
import { Ledger } from '../ledger/ledger.js';
import { CallQuota } from '../quota/call.quota.js';
import { QuotaScopes } from '../quota/quota.scopes.js';
import { type AccountPorts, CallAccount } from './call.account.js';
import { maxOutputTokensOf } from './chat-request.js';
import type { CompletionCall } from './completion-call.js';
import { PromptGauge } from './prompt.gauge.js';

/** Opens what calls take: their reservations, and the account that settles them. */
@Injectable()
export class CallAccounts {
  readonly #closing = new Set<Promise<void>>();

  constructor(
    private readonly admission: AdmissionService,
    private readonly scopes: QuotaScopes,
    private readonly gauge: PromptGauge,
    private readonly ledger: Ledger,
  ) {}

  quotaOf(call: CompletionCall): CallQuota {
    const { request, caller, signal } = call;
    const quotaCall = {
      caller,
      signal,
      maxOutputTokens: maxOutputTokensOf(request),
      choices: request.n ?? 1,
      promptTokens: (model: ModelSettings) => this.gauge.promptTokens(call, model),
      remainingMs: () => Math.max(0, call.deadlineMs - (performance.now() - call.startedAt)),
    };
    return new CallQuota(quotaCall, this.admission, this.scopes);
  }

  /** @param billed - told of each attempt whose tokens are known */
  accountOf(call: CompletionCall, quota: CallQuota, billed: AccountPorts['billed']): CallAccount {
    return new CallAccount(call, {
      quota,
      billed,
      book: (caller, entry) => {
        this.ledger.book(caller, entry);
      },
      count: ({ candidate: { model } }, delivered) => this.gauge.taken(call, model, delivered),
      closing: (closed) => {
        this.#closing.add(closed);
        void closed.finally(() => this.#closing.delete(closed));
      },
    });
  }

  /** Books every call that is over, also those whose tokens are still being counted, and closes the ledger; before the store closes. */
  async close(): Promise<void> {
    while (this.#closing.size > 0) await Promise.all(this.#closing);
    await this.ledger.close();
  }
}
