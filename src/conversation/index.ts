export { ConversationModule } from './conversation.module.js';
export type { ConversationModuleOptions, ConversationSettings } from './conversation.options.js';
export type { Generation, GenerationReport, GenerationRequest, TurnGenerator } from './turn/generator.js';
export { TurnRunner } from './turn/turn.runner.js';
