import { listChanges, readChange, revertChange } from '../../sheet/definition/change/history.ts'
import {
  ChangeAnswer,
  ChangeParams,
  ChangeQuery,
  DefinitionChangeAnswer,
  HistoryAnswer,
  HistoryQuery,
  RevertChangeBody,
  toChangeAnswer,
  toDefinitionChangeAnswer,
  toHistoryAnswer,
} from '../../wire/definition/change.ts'
import { NoQuery } from '../../wire/definition/contract.ts'
import { wholeNumber } from '../../wire/schema/page-parameters.ts'
import { whileConnected } from '../middleware/abort-on-disconnect.ts'
import type { Operation } from '../openapi/operation.ts'
import type { Api, RouteContext } from './route-context.ts'

const HISTORY: Operation = {
  id: 'listDefinitionChanges',
  tag: 'Sheet',
  summary: 'List the changes of the definition',
  description: 'Of the contract and the derivation files, newest first, edits of the files included.',
}

const CHANGE: Operation = {
  id: 'getDefinitionChange',
  tag: 'Sheet',
  summary: 'Get a change of the definition',
  description: 'With the texts before and after, as long as they are kept.',
  errors: [404],
}

const REVERT: Operation = {
  id: 'revertDefinitionChange',
  tag: 'Sheet',
  summary: 'Take back a change of the definition',
  description:
    'Its files get the texts from before, renamed fields their names, and removed and converted fields their values. With `dry_run=true` nothing is changed.',
  errors: [404, 409, 412],
}

/** `/api/definition`: the history of contract and derivations. */
export function definitionRoutes(app: Api, { sheet, actors, read, write }: RouteContext): void {
  const historySchema = { querystring: HistoryQuery, response: { 200: HistoryAnswer } }
  app.get(
    '/api/definition/history',
    { ...read, schema: historySchema, config: { operation: HISTORY } },
    async ({ query: { limit, cursor } }) =>
      toHistoryAnswer(await listChanges(sheet, { limit: wholeNumber(limit), cursor: cursor ?? null })),
  )

  const changeSchema = { params: ChangeParams, querystring: NoQuery, response: { 200: ChangeAnswer } }
  app.get(
    '/api/definition/history/:id',
    { ...read, schema: changeSchema, config: { operation: CHANGE } },
    async ({ params }) => toChangeAnswer(await readChange(sheet, params.id)),
  )

  const revertSchema = {
    querystring: ChangeQuery,
    body: RevertChangeBody,
    response: { 200: DefinitionChangeAnswer },
  }
  app.post(
    '/api/definition/revert',
    { ...write, schema: revertSchema, config: { operation: REVERT } },
    async (request) => {
      const { change, confirm = {}, note = null, actor } = request.body
      const report = await whileConnected(request, (signal) =>
        revertChange(sheet, {
          change,
          confirm: new Map(Object.entries(confirm)),
          note,
          actor: actors.ofBody(request, actor),
          dryRun: request.query.dry_run === 'true',
          signal,
        }),
      )
      return toDefinitionChangeAnswer(report)
    },
  )
}
