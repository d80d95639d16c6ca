import type { Readable } from 'node:stream';
import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { RequireScope } from '../../auth/index.js';
import { CONVERSATION_SETTINGS, type ConversationSettings } from '../conversation.options.js';
import { TurnService } from '../turn/turn.service.js';
import { TurnWatch } from '../turn/turn.watch.js';
import { turnCard } from './conversation.cards.js';
import { placeOf } from './conversation.place.js';
import { CurrentExchange, type Exchange } from './exchange.decorator.js';
import { readLastEventId, TurnAnswers } from './turn.answers.js';
import { AnswerBody, TurnBody, type TurnCard, TurnQuery } from './turn.dto.js';
import { readAsk } from './turn.reader.js';
import { checkMembers, identityOf, inputOf, parametersOf } from './turn.request.js';
import { CancelTurnDocs, CreateTurnDocs, RegenerateTurnDocs, RetrieveTurnDocs, TurnEventsDocs } from './turns.docs.js';

/** Turns of a conversation. */
@ApiTags('conversations')
@RequireScope('chat')
@Controller('v1/conversations/:id/turns')
export class TurnsController {
  constructor(
    private readonly turns: TurnService,
    private readonly watch: TurnWatch,
    private readonly answers: TurnAnswers,
    @Inject(CONVERSATION_SETTINGS) private readonly settings: ConversationSettings,
  ) {}

  @Post()
  @HttpCode(200)
  @CreateTurnDocs()
  async create(
    @Param('id') id: string,
    @Body() body: TurnBody,
    @Query() { onBusy }: TurnQuery,
    @CurrentExchange() exchange: Exchange,
  ): Promise<TurnCard | Readable> {
    const reading = { waits: onBusy === 'wait', asked: [identityOf(body)], settings: this.settings };
    const ask = readAsk(exchange, { place: placeOf(exchange.caller, id), ...reading });
    const asked = await this.turns.ask(ask, inputOf(body));
    return this.answers.answer(ask.place, asked, body, exchange);
  }

  @Post(':turn/regenerate')
  @HttpCode(200)
  @RegenerateTurnDocs()
  async regenerate(
    @Param() { id, turn }: { readonly id: string; readonly turn: string },
    @Body() body: AnswerBody,
    @Query() { onBusy }: TurnQuery,
    @CurrentExchange() exchange: Exchange,
  ): Promise<TurnCard | Readable> {
    const reading = { waits: onBusy === 'wait', asked: [identityOf(body), turn], settings: this.settings };
    const ask = readAsk(exchange, { place: placeOf(exchange.caller, id), ...reading });
    const { model } = body;
    checkMembers(body);
    const changes = { ...parametersOf(body), ...(typeof model === 'string' && { model }) };
    const asked = await this.turns.askAgain(ask, turn, changes);
    return this.answers.answer(ask.place, asked, body, exchange);
  }

  @Get(':turn')
  @RetrieveTurnDocs()
  async get(
    @Param('id') id: string,
    @Param('turn') turn: string,
    @CurrentExchange() { caller }: Exchange,
  ): Promise<TurnCard> {
    return turnCard(id, await this.watch.find(placeOf(caller, id), turn));
  }

  @Get(':turn/events')
  @TurnEventsDocs()
  async events(
    @Param('id') id: string,
    @Param('turn') turnId: string,
    @CurrentExchange() exchange: Exchange,
  ): Promise<Readable> {
    const place = placeOf(exchange.caller, id);
    const afterId = readLastEventId(exchange.request.headers['last-event-id']);
    const turn = await this.watch.findAfter(place, turnId, afterId);
    return this.answers.events(place, turn.id, afterId, exchange);
  }

  @Post(':turn/cancel')
  @HttpCode(200)
  @CancelTurnDocs()
  async cancel(
    @Param('id') id: string,
    @Param('turn') turn: string,
    @CurrentExchange() { caller }: Exchange,
  ): Promise<TurnCard> {
    return turnCard(id, await this.watch.cancel(placeOf(caller, id), turn));
  }
}
