import {
  acceptProposal,
  getProposal,
  listProposals,
  planProposal,
  propose,
  proposeDefinition,
  rejectProposal,
  type ProposedChange,
} from '../../sheet/writes/proposals.ts'
import { NoQuery } from '../../wire/definition/contract.ts'
import { wholeNumber } from '../../wire/schema/page-parameters.ts'
import { toWholeContract } from '../../wire/definition/contract-changes.ts'
import { ProposalPlanAnswer, toProposalPlanAnswer } from '../../wire/definition/proposal-plan.ts'
import {
  AcceptProposalBody,
  ProposalAnswer,
  ProposalListAnswer,
  ProposalParams,
  ProposalsQuery,
  ProposalSummary,
  PlanProposalBody,
  RejectProposalBody,
  toProposalAnswer,
  toProposalListAnswer,
  toProposalParts,
  toProposalSummary,
} from '../../wire/records/proposals.ts'
import { ProposeBody } from '../../wire/definition/propose.ts'
import { jsonInTurns } from '../../sheet/json-body.ts'
import { acceptJsonBodies } from '../middleware/body-parser.ts'
import { sendJson } from '../response/json-response.ts'
import type { Operation } from '../openapi/operation.ts'
import type { Api, RouteContext } from './route-context.ts'

const LIST: Operation = { id: 'listProposals', tag: 'Proposals', summary: 'List the proposals' }
const GET: Operation = {
  id: 'getProposal',
  tag: 'Proposals',
  summary: 'Get a proposal and its changes',
  errors: [404],
}
const PROPOSE: Operation = {
  id: 'propose',
  tag: 'Proposals',
  summary: 'Propose a write, or a change of the definition',
  description: 'The change waits until someone else accepts it; see `POST /api/proposals/{id}/accept`.',
  errors: [404, 409, 412],
  answers: { 200: { headers: ['Location'] } },
}
const ACCEPT: Operation = {
  id: 'acceptProposal',
  tag: 'Proposals',
  summary: 'Accept a proposal, and write its changes',
  description:
    'With `cells`, only these are decided, and the others wait. A change of the definition is carried out if its files are as they were when it was proposed; otherwise the response is a 412.',
  errors: [404, 409, 412],
}
const PLAN: Operation = {
  id: 'planProposal',
  tag: 'Proposals',
  summary: 'Plan a proposed change of the definition',
  description: 'Returns the effect that accepting it would have on the present state. Changes nothing.',
  errors: [404, 409, 412],
}
const REJECT: Operation = {
  id: 'rejectProposal',
  tag: 'Proposals',
  summary: 'Reject a proposal',
  description: 'With `cells`, only these are decided, and the others wait.',
  errors: [404, 409],
}

/** Largest body of a proposal, in bytes: twice the bytes by which it may differ from the present values. */
export const PROPOSAL_BODY_LIMIT = 8 << 20

/** `/api/proposals` and the paths below it. */
export function proposalsRoutes(app: Api, { sheet, actors, read, write }: RouteContext): void {
  const listSchema = { querystring: ProposalsQuery, response: { 200: ProposalListAnswer } }
  app.get('/api/proposals', { ...read, schema: listSchema, config: { operation: LIST } }, async ({ query }) =>
    toProposalListAnswer(
      await listProposals(sheet, {
        state: query.state ?? null,
        limit: wholeNumber(query.limit),
        cursor: query.cursor ?? null,
      }),
    ),
  )

  const getSchema = { params: ProposalParams, querystring: NoQuery, response: { 200: ProposalAnswer } }
  app.get(
    '/api/proposals/:id',
    { ...read, schema: getSchema, config: { operation: GET } },
    async ({ params }, reply) =>
      sendJson(reply, await jsonInTurns(toProposalAnswer(await getProposal(sheet, params.id)))),
  )

  // The records may have arrays of any length; the limit in bytes bounds them.
  acceptJsonBodies(app, Infinity)
  const bodyLimit = Math.min(app.initialConfig.bodyLimit ?? PROPOSAL_BODY_LIMIT, PROPOSAL_BODY_LIMIT)
  const proposeSchema = { querystring: NoQuery, body: ProposeBody, response: { 200: ProposalSummary } }
  app.post(
    '/api/proposals',
    { ...write, bodyLimit, schema: proposeSchema, config: { operation: PROPOSE } },
    async (request, reply) => {
      const { note = null, actor } = request.body
      const by = { note, actor: actors.ofBody(request, actor) }
      const change = changeOf(request.body)
      const proposal =
        change === null
          ? await proposeDefinition(sheet, toWholeContract(request.body), by)
          : await propose(sheet, { change, ...by })
      reply.header('location', `/api/proposals/${proposal.id}`)
      return toProposalSummary(proposal)
    },
  )

  const decided = { querystring: NoQuery, params: ProposalParams, response: { 200: ProposalSummary } }
  const acceptSchema = { ...decided, body: AcceptProposalBody }
  app.post(
    '/api/proposals/:id/accept',
    { ...write, schema: acceptSchema, config: { operation: ACCEPT } },
    async (request) => {
      const actor = actors.ofBody(request, request.body.actor)
      const confirm = new Map(Object.entries(request.body.confirm ?? {}))
      const parts = toProposalParts(request.body.cells)
      return toProposalSummary(await acceptProposal(sheet, { id: request.params.id, actor, confirm, parts }))
    },
  )

  const planSchema = {
    querystring: NoQuery,
    params: ProposalParams,
    body: PlanProposalBody,
    response: { 200: ProposalPlanAnswer },
  }
  app.post(
    '/api/proposals/:id/plan',
    { ...write, schema: planSchema, config: { operation: PLAN } },
    async ({ params }) => toProposalPlanAnswer(await planProposal(sheet, params.id)),
  )

  const rejectSchema = { ...decided, body: RejectProposalBody }
  app.post(
    '/api/proposals/:id/reject',
    { ...write, schema: rejectSchema, config: { operation: REJECT } },
    async (request) => {
      const { reason, actor, cells } = request.body
      const rejection = {
        id: request.params.id,
        reason: reason ?? null,
        parts: toProposalParts(cells),
        actor: actors.ofBody(request, actor),
      }
      return toProposalSummary(await rejectProposal(sheet, rejection))
    },
  )
}

/** Returns the proposed change of records; null for one of the definition. */
function changeOf(body: ProposeBody): ProposedChange | null {
  // The contract validates the records, which arrived as JSON.
  if ('records' in body) return { records: body.records as JsonRecords }
  return 'ids' in body ? { ids: body.ids } : null
}

type JsonRecords = Extract<ProposedChange, { readonly records: unknown }>['records']
