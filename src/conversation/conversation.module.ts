import { Module, type Provider } from '@nestjs/common';
import { type ClientEnvironment, nodeEnvironment } from '../store/index.js';
import { ConfigurableConversationModule, CONVERSATION_OPTIONS } from './conversation.module-definition.js';
import {
  CONVERSATION_CATALOGUE,
  CONVERSATION_SETTINGS,
  CONVERSATION_STORE,
  type ConversationModuleOptions,
  type ConversationSettings,
  DEFAULT_CONVERSATION_SETTINGS,
  RUN_PORTS,
  TURN_ENVIRONMENT,
} from './conversation.options.js';
import { ConversationDesk } from './endpoint/conversation.desk.js';
import { ConversationsController } from './endpoint/conversations.controller.js';
import { MessageLog } from './endpoint/message.log.js';
import { MessagesController } from './endpoint/messages.controller.js';
import { TurnAnswers } from './endpoint/turn.answers.js';
import { TurnsController } from './endpoint/turns.controller.js';
import { UserChatController } from './endpoint/user-chat.controller.js';
import { WindowPreviews } from './endpoint/window.previews.js';
import { conversationStoreOn } from './store/conversation-store.factory.js';
import type { ConversationStore } from './store/index.js';
import { ConversationLocks } from './turn/conversation.locks.js';
import { MessageCounter } from './turn/message.counter.js';
import { TurnFeed } from './turn/turn.feed.js';
import { TurnKeys } from './turn/turn.keys.js';
import { TurnNews } from './turn/turn.news.js';
import { TurnObserver } from './turn/turn.observer.js';
import { TurnPlanner } from './turn/turn.planner.js';
import { TurnRecovery } from './turn/turn.recovery.js';
import type { RunPorts } from './turn/turn.run.js';
import { TurnRunner } from './turn/turn.runner.js';
import { TurnRuns } from './turn/turn.runs.js';
import { TurnService } from './turn/turn.service.js';
import { TurnStarter } from './turn/turn.starter.js';
import { TurnWatch } from './turn/turn.watch.js';
import { WindowCounter } from './turn/window.counts.js';

const PORTS: readonly Provider[] = [
  {
    provide: CONVERSATION_SETTINGS,
    inject: [CONVERSATION_OPTIONS],
    useFactory: (given: ConversationModuleOptions): ConversationSettings => ({
      ...DEFAULT_CONVERSATION_SETTINGS,
      ...given,
    }),
  },
  {
    provide: CONVERSATION_STORE,
    inject: [CONVERSATION_OPTIONS],
    useFactory: ({ store, durability, conversationStore }: ConversationModuleOptions) =>
      conversationStore ?? conversationStoreOn(store, durability),
  },
  {
    provide: CONVERSATION_CATALOGUE,
    inject: [CONVERSATION_OPTIONS],
    useFactory: ({ catalogue }: ConversationModuleOptions) => catalogue,
  },
  {
    provide: MessageCounter,
    inject: [CONVERSATION_OPTIONS],
    useFactory: ({ counters }: ConversationModuleOptions) => new MessageCounter(counters),
  },
  { provide: TURN_ENVIRONMENT, useFactory: nodeEnvironment },
  {
    provide: RUN_PORTS,
    inject: [CONVERSATION_OPTIONS, CONVERSATION_STORE, MessageCounter, TURN_ENVIRONMENT],
    useFactory: (
      { generator, deltaMs = DEFAULT_CONVERSATION_SETTINGS.deltaMs }: ConversationModuleOptions,
      store: ConversationStore,
      counter: MessageCounter,
      environment: ClientEnvironment,
    ): RunPorts => ({ store, generator, counter, environment, settings: { deltaMs } }),
  },
];

/**
 * Conversations: turns that never mix, are not lost, and fit their model. Needs LockModule, AuthModule and ObservabilityModule, and the
 * error filter, the validation pipe and the docs of http/.
 *
 * @example
 * imports: [
 *   ConversationModule.forRootAsync({
 *     imports: [ai], // AiModule.forRoot({ … })
 *   }),
 * ]
 */
@Module({
  providers: [
    ...PORTS,
    ConversationDesk,
    ConversationLocks,
    MessageLog,
    TurnAnswers,
    TurnFeed,
    TurnKeys,
    TurnNews,
    TurnObserver,
    TurnPlanner,
    TurnRecovery,
    TurnRunner,
    TurnRuns,
    TurnService,
    TurnStarter,
    TurnWatch,
    WindowCounter,
    WindowPreviews,
  ],
  controllers: [ConversationsController, MessagesController, TurnsController, UserChatController],
  exports: [TurnRunner],
})
export class ConversationModule extends ConfigurableConversationModule {}
