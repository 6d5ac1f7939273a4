import type { FastifyRequest } from 'fastify'
import {
  addContractField,
  changeContractField,
  removeContractField,
  type ContractOptions,
  type ContractReport,
} from '../../sheet/definition/change/change-fields.ts'
import { readContractFile } from '../../sheet/definition/change/derivation-file.ts'
import { replaceContract } from '../../sheet/definition/change/replace-contract.ts'
import { readContract, readContractVersion } from '../../sheet/schema/read-contract.ts'
import { ChangeQuery } from '../../wire/definition/change.ts'
import { ContractAnswer, ContractQuery, NoQuery } from '../../wire/definition/contract.ts'
import {
  AddPropertyBody,
  ChangePropertyBody,
  ContractChangeAnswer,
  PropertyAnswer,
  PropertyParams,
  PutContractBody,
  RemovePropertyQuery,
  toContractChangeAnswer,
  toFieldChange,
  toNewField,
  toWholeContract,
} from '../../wire/definition/contract-changes.ts'
import { DerivationFileAnswer } from '../../wire/definition/derivations.ts'
import { wholeNumber } from '../../wire/schema/page-parameters.ts'
import type { Operation } from '../openapi/operation.ts'
import { whileConnected } from '../middleware/abort-on-disconnect.ts'
import { readFileIfMatch, tagContract, tagFile } from '../response/entity-tag.ts'
import type { Api, RouteContext } from './route-context.ts'

const GET: Operation = {
  id: 'getContract',
  tag: 'Sheet',
  summary: 'Get the contract',
  description:
    'The validated document (Open Data Contract Standard) with defaults filled in, and `derived` on each property that a derivation computes. The `ETag` is for `If-Match` of a change.',
  answers: { 200: { headers: ['ETag'] } },
}

const GET_TEXT: Operation = {
  id: 'getContractText',
  tag: 'Sheet',
  summary: 'Get the text of the contract',
  description: 'Also of a file that is not valid. The `ETag` is its version, for `If-Match` of a change.',
  errors: [404],
  answers: { 200: { headers: ['ETag'] } },
}

const PUT: Operation = {
  id: 'putContract',
  tag: 'Sheet',
  summary: 'Write the contract',
  description:
    'Takes the whole text, or the whole document, by which the file is edited in place. Fields can be renamed, converted and removed. With `If-Match`, only if the file still has that version. With `dry_run=true` nothing is changed.',
  errors: [404, 412],
  headers: ['If-Match'],
  answers: { 200: { headers: ['ETag'] } },
}

const ADD: Operation = {
  id: 'addProperty',
  tag: 'Sheet',
  summary: 'Add a field',
  description: 'At the end of the contract. With `dry_run=true` nothing is changed.',
  errors: [412],
  headers: ['If-Match'],
  answers: { 200: { description: 'The contract, or with `dry_run` what would change.', headers: ['ETag'] } },
}

const CHANGE: Operation = {
  id: 'changeProperty',
  tag: 'Sheet',
  summary: 'Change or rename a field',
  description:
    'The values of a renamed field are kept, with their history, and derivations that name it are edited. Values of another type are converted. With `dry_run=true` nothing is changed.',
  errors: [404, 412],
  headers: ['If-Match'],
  answers: { 200: { description: 'The contract, or with `dry_run` what would change.', headers: ['ETag'] } },
}

const REMOVE: Operation = {
  id: 'removeProperty',
  tag: 'Sheet',
  summary: 'Remove a field',
  description:
    'A field with values needs `confirm` with their number; they stay in the log. With `dry_run=true` nothing is changed.',
  errors: [404, 412],
  headers: ['If-Match', 'X-Svc-Actor'],
  answers: { 200: { description: 'The contract, or with `dry_run` what would change.', headers: ['ETag'] } },
}

/** `/api/contract` (D8), and the routes that change it. */
export function contractRoutes(app: Api, { sheet, actors, read, write }: RouteContext): void {
  const schema = { querystring: ContractQuery, response: { 200: ContractAnswer } }
  app.get('/api/contract', { ...read, schema, config: { operation: GET } }, async ({ query }, reply) => {
    // An older version is refused by If-Match; a newer one would not be that of the response.
    const version = await readContractVersion(sheet)
    const contract = await readContract(sheet, query.derived !== 'false')
    tagContract(reply, version, contract)
    return contract
  })

  const textSchema = { querystring: NoQuery, response: { 200: DerivationFileAnswer } }
  app.get(
    '/api/contract/text',
    { ...read, schema: textSchema, config: { operation: GET_TEXT } },
    async (_, reply) => {
      const file = await readContractFile(sheet)
      tagFile(reply, file.version)
      return file
    },
  )

  const optionsOf = (
    request: FastifyRequest,
    query: { readonly dry_run?: string },
    note: string | undefined,
  ): Omit<ContractOptions, 'actor'> => ({
    note: note ?? null,
    dryRun: query.dry_run === 'true',
    ifMatch: readFileIfMatch(request),
  })
  const answer = async (report: ContractReport): Promise<ContractChangeAnswer | ContractAnswer> =>
    report.dryRun ? toContractChangeAnswer(report) : readContract(sheet)

  const putSchema = {
    querystring: ChangeQuery,
    body: PutContractBody,
    response: { 200: ContractChangeAnswer },
  }
  app.put(
    '/api/contract',
    { ...write, schema: putSchema, config: { operation: PUT } },
    async (request, reply) => {
      const { note, actor } = request.body
      const report = await whileConnected(request, (signal) =>
        replaceContract(sheet, toWholeContract(request.body), {
          ...optionsOf(request, request.query, note),
          signal,
          actor: actors.ofBody(request, actor),
        }),
      )
      tagFile(reply, report.version)
      return toContractChangeAnswer(report)
    },
  )

  const answers = { 200: PropertyAnswer }
  const addSchema = { querystring: ChangeQuery, body: AddPropertyBody, response: answers }
  app.post(
    '/api/contract/properties',
    { ...write, schema: addSchema, config: { operation: ADD } },
    async (request, reply) => {
      const { note, actor } = request.body
      const report = await whileConnected(request, (signal) =>
        addContractField(sheet, toNewField(request.body), {
          ...optionsOf(request, request.query, note),
          signal,
          actor: actors.ofBody(request, actor),
        }),
      )
      tagFile(reply, report.version)
      return answer(report)
    },
  )

  const params = PropertyParams
  const changeSchema = { params, querystring: ChangeQuery, body: ChangePropertyBody, response: answers }
  app.patch(
    '/api/contract/properties/:name',
    { ...write, schema: changeSchema, config: { operation: CHANGE } },
    async (request, reply) => {
      const { note, actor } = request.body
      const report = await whileConnected(request, (signal) =>
        changeContractField(sheet, request.params.name, {
          ...optionsOf(request, request.query, note),
          signal,
          actor: actors.ofBody(request, actor),
          change: toFieldChange(request.body),
        }),
      )
      tagFile(reply, report.version)
      return answer(report)
    },
  )

  const removeSchema = { params, querystring: RemovePropertyQuery, response: answers }
  app.delete(
    '/api/contract/properties/:name',
    { ...write, schema: removeSchema, config: { operation: REMOVE } },
    async (request, reply) => {
      const report = await whileConnected(request, (signal) =>
        removeContractField(sheet, request.params.name, {
          ...optionsOf(request, request.query, undefined),
          signal,
          actor: actors.ofHeader(request),
          confirm: wholeNumber(request.query.confirm),
        }),
      )
      tagFile(reply, report.version)
      return answer(report)
    },
  )
}
