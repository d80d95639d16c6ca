import { Injectable } from '@nestjs/common';
import { AdmissionService, type ScopeState } from '../../admission/index.js';
import { type Caller, CallerRegistry } from '../../auth/index.js';
import type { BudgetReader, BudgetState, CallerAllowance } from '../ledger/budget.reader.js';
import { MICRO_PER_USD } from './micro.usd.js';
import { QuotaScopes } from './quota.scopes.js';

/** What callers may use by the settings, and have used by the store. */
@Injectable()
export class QuotaReader implements BudgetReader {
  constructor(
    private readonly admission: AdmissionService,
    private readonly scopes: QuotaScopes,
    private readonly callers: CallerRegistry,
  ) {}

  /** @throws AdmissionStoreError */
  async allowanceOf(id: string): Promise<CallerAllowance> {
    const caller = this.callers.find(id);
    if (caller === undefined) return { limits: {}, budgets: [] };
    const budget = this.scopes.ofBudget(caller);
    if (budget === undefined) return { limits: caller.limits, budgets: [] };
    return { limits: caller.limits, budgets: budgetsIn(await this.admission.inspect(budget.scope), caller) };
  }
}

function budgetsIn({ budgets, reserved }: ScopeState, { budget }: Caller): readonly BudgetState[] {
  return budgets.map(({ unit, period, limit, spent, endsAtMs }) => {
    const scale = unit === 'usd' ? MICRO_PER_USD : 1;
    const open = unit === 'usd' ? reserved.microUsd : reserved.tokens;
    return {
      unit,
      period,
      limit: limit / scale,
      spent: spent / scale,
      reserved: open / scale,
      resetsAt: endsAtMs,
      isHard: budget?.hard === true,
    };
  });
}
