import {
  NO_RUN,
  readDerivationFile,
  removeDerivationFile,
  tryKeepValues,
  writeDerivationFile,
} from '../../sheet/definition/change/derivation-file.ts'
import { previewDerivation, USUAL_SAMPLE } from '../../sheet/preview/preview-derivation.ts'
import { readChoices } from '../../sheet/schema/read-choices.ts'
import { readDerivations } from '../../sheet/schema/read-derivations.ts'
import {
  ChangeQuery,
  DefinitionChangeAnswer,
  PutDerivationAnswer,
  PutDerivationQuery,
  toDefinitionChangeAnswer,
  toPutDerivationAnswer,
} from '../../wire/definition/change.ts'
import { NoQuery } from '../../wire/definition/contract.ts'
import {
  DerivationFileAnswer,
  DerivationFileParams,
  DerivationListAnswer,
  PutDerivationBody,
  toDerivationListAnswer,
} from '../../wire/definition/derivations.ts'
import { PreviewAnswer, PreviewBody, toPreviewAnswer } from '../../wire/definition/preview.ts'
import { whileConnected } from '../middleware/abort-on-disconnect.ts'
import type { Operation } from '../openapi/operation.ts'
import { readFileIfMatch, readIfAbsent, tagFile } from '../response/entity-tag.ts'
import type { Api, RouteContext } from './route-context.ts'

const LIST: Operation = {
  id: 'listDerivations',
  tag: 'Sheet',
  summary: 'List the derivation files',
  description:
    'Each after those that it depends on, with its parsed contents; and the models and secrets that further ones can use.',
}

const GET: Operation = {
  id: 'getDerivation',
  tag: 'Sheet',
  summary: 'Get the text of a derivation file',
  description: 'Also of a file that is not valid. The `ETag` is its version, for `If-Match` of a change.',
  errors: [404],
  answers: { 200: { headers: ['ETag'] } },
}

const PUT: Operation = {
  id: 'putDerivation',
  tag: 'Sheet',
  summary: 'Write a derivation file',
  description:
    'Adds or replaces a file, if the whole definition is valid with it. With `If-Match`, only if the file still has that version; with `If-None-Match: *` only a new file. With `dry_run=true` nothing is changed.',
  errors: [409, 412],
  headers: ['If-Match', 'If-None-Match'],
  answers: { 200: { headers: ['ETag'] } },
}

const PREVIEW: Operation = {
  id: 'previewDerivation',
  tag: 'Sheet',
  summary: 'Try a derivation on a few records',
  description:
    'Computes as a run would, and stores no cell. The results are in the cache, so that a run with the same file does not pay for them again.',
  errors: [404],
}

const DELETE: Operation = {
  id: 'deleteDerivation',
  tag: 'Sheet',
  summary: 'Remove a derivation file',
  description:
    'Its targets become ordinary fields, with their values. With `If-Match`, only if the file still has that version. With `dry_run=true` nothing is changed.',
  errors: [404, 409, 412],
  headers: ['If-Match', 'X-Svc-Actor'],
}

/** `/api/derivations`: the files with their parsed contents, and `/api/derivations/{file}`: their texts. */
export function derivationsRoutes(app: Api, { sheet, actors, read, write }: RouteContext): void {
  const schema = { querystring: NoQuery, response: { 200: DerivationListAnswer } }
  app.get('/api/derivations', { ...read, schema, config: { operation: LIST } }, async () =>
    toDerivationListAnswer(await readDerivations(sheet), await readChoices(sheet)),
  )

  const params = DerivationFileParams
  const getSchema = { params, querystring: NoQuery, response: { 200: DerivationFileAnswer } }
  app.get(
    '/api/derivations/:file',
    { ...read, schema: getSchema, config: { operation: GET } },
    async (request, reply) => {
      const found = await readDerivationFile(sheet, request.params.file)
      tagFile(reply, found.version)
      return found
    },
  )

  const changeSchema = { params, querystring: ChangeQuery, response: { 200: DefinitionChangeAnswer } }
  const putSchema = {
    params,
    querystring: PutDerivationQuery,
    body: PutDerivationBody,
    response: { 200: PutDerivationAnswer },
  }
  app.put(
    '/api/derivations/:file',
    { ...write, schema: putSchema, config: { operation: PUT } },
    async (request, reply) => {
      const { text, note = null, actor } = request.body
      const report = await whileConnected(request, (signal) =>
        writeDerivationFile(
          sheet,
          { file: request.params.file, text },
          {
            actor: actors.ofBody(request, actor),
            note,
            dryRun: request.query.dry_run === 'true',
            signal,
            ifMatch: readFileIfMatch(request),
            ifAbsent: readIfAbsent(request),
          },
        ),
      )
      const version = report.files[0]?.after ?? null
      if (version !== null && !report.dryRun) tagFile(reply, version)
      const { file } = request.params
      const keeps = request.query.keep === 'fresh'
      const { run, error } = keeps
        ? await tryKeepValues(sheet, report, { file, actor: actors.ofBody(request, actor) })
        : NO_RUN
      // Its outcome is in the list of runs.
      run?.done.catch(() => undefined)
      return toPutDerivationAnswer(report, { run: run?.id ?? null, error })
    },
  )

  const previewSchema = { querystring: NoQuery, body: PreviewBody, response: { 200: PreviewAnswer } }
  app.post(
    '/api/derivations/preview',
    { ...write, schema: previewSchema, config: { operation: PREVIEW } },
    async (request) => {
      const { file, text = null, contract = null, record_ids: recordIds = null, actor } = request.body
      const { sample = USUAL_SAMPLE, seed = 0, max_cost: maxCost = null } = request.body
      const preview = { file, text, contract, recordIds, sample, seed, maxCost }
      return toPreviewAnswer(
        await whileConnected(request, (signal) =>
          previewDerivation(sheet, { ...preview, actor: actors.ofBody(request, actor) }, signal),
        ),
      )
    },
  )

  app.delete(
    '/api/derivations/:file',
    { ...write, schema: changeSchema, config: { operation: DELETE } },
    async (request) =>
      toDefinitionChangeAnswer(
        await whileConnected(request, (signal) =>
          removeDerivationFile(sheet, request.params.file, {
            actor: actors.ofHeader(request),
            dryRun: request.query.dry_run === 'true',
            signal,
            ifMatch: readFileIfMatch(request),
          }),
        ),
      ),
  )
}
