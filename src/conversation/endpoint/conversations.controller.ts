import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { type Caller, CurrentCaller, RequireScope } from '../../auth/index.js';
import { conversationCard } from './conversation.cards.js';
import {
  ConversationBody,
  type ConversationCard,
  type ConversationList,
  type DeletedConversation,
  ListConversationsQuery,
} from './conversation.dto.js';
import { chosenPlace, newConversationId, placeOf } from './conversation.place.js';
import {
  ChangeConversationDocs,
  ChooseConversationDocs,
  CreateConversationDocs,
  DeleteConversationDocs,
  ListConversationsDocs,
  RetrieveConversationDocs,
} from './conversations.docs.js';
import { ConversationDesk } from './conversation.desk.js';
import { etagOf, readIfMatch } from './etag.js';
import { CurrentExchange, type Exchange } from './exchange.decorator.js';
import type { Conversation } from '../store/index.js';

/** Conversations of a caller. Those of others are like none. */
@ApiTags('conversations')
@RequireScope('chat')
@Controller('v1/conversations')
export class ConversationsController {
  constructor(private readonly desk: ConversationDesk) {}

  @Post()
  @HttpCode(200)
  @CreateConversationDocs()
  async create(@Body() body: ConversationBody, @CurrentExchange() exchange: Exchange): Promise<ConversationCard> {
    const { caller } = exchange;
    return told(await this.desk.create(placeOf(caller, newConversationId()), body, caller), exchange);
  }

  @Put(':id')
  @ChooseConversationDocs()
  async choose(
    @Param('id') id: string,
    @Body() body: ConversationBody,
    @CurrentExchange() exchange: Exchange,
  ): Promise<ConversationCard> {
    const { caller } = exchange;
    return told(await this.desk.create(chosenPlace(caller, id), body, caller), exchange);
  }

  @Get()
  @ListConversationsDocs()
  list(@Query() query: ListConversationsQuery, @CurrentCaller() caller: Caller): Promise<ConversationList> {
    return this.desk.list(caller, query);
  }

  @Get(':id')
  @RetrieveConversationDocs()
  async get(@Param('id') id: string, @CurrentExchange() exchange: Exchange): Promise<ConversationCard> {
    return told(await this.desk.get(placeOf(exchange.caller, id)), exchange);
  }

  @Patch(':id')
  @ChangeConversationDocs()
  async change(
    @Param('id') id: string,
    @Body() body: ConversationBody,
    @CurrentExchange() exchange: Exchange,
  ): Promise<ConversationCard> {
    const { caller, request } = exchange;
    const expected = readIfMatch(request.headers['if-match']);
    return told(await this.desk.change(placeOf(caller, id), body, caller, expected), exchange);
  }

  @Delete(':id')
  @DeleteConversationDocs()
  async delete(
    @Param('id') id: string,
    @CurrentExchange() { caller, request }: Exchange,
  ): Promise<DeletedConversation> {
    await this.desk.remove(placeOf(caller, id), readIfMatch(request.headers['if-match']));
    return { id, object: 'conversation.deleted', deleted: true };
  }
}

function told(conversation: Conversation, { reply }: Exchange): ConversationCard {
  void reply.header('etag', etagOf(conversation));
  return conversationCard(conversation);
}
