import type { Readable } from 'node:stream';
import { Body, Controller, HttpCode, Inject, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { RequireScope } from '../../auth/index.js';
import { CONVERSATION_SETTINGS, CONVERSATION_STORE, type ConversationSettings } from '../conversation.options.js';
import type { ConversationStore } from '../store/index.js';
import { wellFormed } from '../turn/content.js';
import { TurnService } from '../turn/turn.service.js';
import { userPlace } from './conversation.place.js';
import { CurrentExchange, type Exchange } from './exchange.decorator.js';
import { TurnAnswers } from './turn.answers.js';
import { type TurnCard, TurnQuery, UserChatBody } from './turn.dto.js';
import { readAsk } from './turn.reader.js';
import { identityOf, inputOf } from './turn.request.js';
import { UserChatDocs } from './turns.docs.js';

/** One conversation per user of a caller, without a word about conversations. */
@ApiTags('conversations')
@RequireScope('chat')
@Controller('v1/chat')
export class UserChatController {
  constructor(
    private readonly turns: TurnService,
    private readonly answers: TurnAnswers,
    @Inject(CONVERSATION_STORE) private readonly store: ConversationStore,
    @Inject(CONVERSATION_SETTINGS) private readonly settings: ConversationSettings,
  ) {}

  @Post()
  @HttpCode(200)
  @UserChatDocs()
  async chat(
    @Body() body: UserChatBody,
    @Query() { onBusy }: TurnQuery,
    @CurrentExchange() exchange: Exchange,
  ): Promise<TurnCard | Readable> {
    const { user_id: userId, message, ...rest } = body;
    const place = userPlace(exchange.caller, userId);
    const input = inputOf({ ...rest, content: message }, 'message');
    const ask = readAsk(exchange, {
      place,
      waits: onBusy === 'wait',
      asked: [identityOf(body)],
      settings: this.settings,
    });
    await this.store.create(place, {
      title: undefined,
      model: undefined,
      system: undefined,
      systemTokens: [],
      metadata: { user_id: wellFormed(userId) },
      keepMs: this.settings.keepMs,
    });
    return this.answers.answer(place, await this.turns.ask(ask, input), body, exchange);
  }
}
