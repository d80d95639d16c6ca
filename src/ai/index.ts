export { AiModule } from './ai.module.js';
export type { AiOptions } from './ai.options.js';
export { Catalogue } from './catalogue/catalogue.js';
export { ChatGenerator, type Generation, type GenerationRequest } from './generation/chat.generator.js';
export { BudgetMetrics } from './ledger/budget.metrics.js';
export { BudgetWatch } from './ledger/budget.watch.js';
export { CHAT_SCHEMAS } from './endpoint/schema/chat.schemas.js';
export type { DeploymentStatus, KeyStatus, ModelStatus, PodStatus, Status, UpstreamStatus } from './status/status.js';
export { StatusService } from './status/status.service.js';
