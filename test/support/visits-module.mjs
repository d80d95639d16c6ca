/**
 * Preloaded into the server under test: a developer's endpoint, `POST /v1/visits/:room`, which one request at a time may enter, on all
 * pods. It answers when it came in and went out, by the machine's monotonic clock, and with which fence.
 */
import { setTimeout as pass } from 'node:timers/promises';
import { Controller, Param, Post } from '@nestjs/common';
import { AppModule } from '../../dist/app.module.js';
import { currentLease, WithLock } from '../../dist/lock/index.js';

const VISIT_MS = 150;
const LEASE_MS = Number(process.env.VISIT_LEASE_MS ?? 30_000);

class VisitsController {
  async visit(room) {
    const enteredAt = now();
    await pass(VISIT_MS);
    return { room, fence: currentLease().fence, enteredAt, leftAt: now() };
  }
}

const method = Object.getOwnPropertyDescriptor(VisitsController.prototype, 'visit');
WithLock((room) => `room:${room}`, { waitMs: 60_000, leaseMs: LEASE_MS })(VisitsController.prototype, 'visit', method);
Post(':room')(VisitsController.prototype, 'visit', method);
Object.defineProperty(VisitsController.prototype, 'visit', method);
Param('room')(VisitsController.prototype, 'visit', 0);
Controller('v1/visits')(VisitsController);

const { forRoot } = AppModule;
AppModule.forRoot = function withVisits(options) {
  const module = forRoot.call(this, options);
  return { ...module, controllers: [...(module.controllers ?? []), VisitsController] };
};

function now() {
  return Number(process.hrtime.bigint()) / 1e6;
}
