import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import type { SheetOptions } from '../../src/sheet/open-sheet.ts'
import { contractText } from './contract-with.ts'
import { openOnEngine } from './engine.ts'
import { startLocalApi } from './local-api.ts'
import { ModelServer, type ModelAnswer, type ModelRequest } from './model-server.ts'
import { onEnd } from './on-end.ts'
import { RunSheet } from './run-fixture.ts'
import { writeSheet } from './sheet-fixture.ts'

/** Dollars for a million tokens, with three decimals. */
export const PRICE = { input: 0.15, cached_input: 0.075, output: 0.6 }

/** Fills the industry and the staff of a company. */
export const COMPANY: JsonObject = {
  targets: ['industry', 'staff'],
  kind: 'ai',
  model: 'small',
  prompt: 'Company: {{ company }}',
  max_output_tokens: 40,
}

export interface AiSheetFiles {
  /** Responds to each request; by default with a valid answer. */
  readonly answer?: (request: ModelRequest) => ModelAnswer | Promise<ModelAnswer>
  /** The names of the companies, a record each, `1` on. */
  readonly companies?: readonly (string | null)[]
  /** Replaces members of the model's entry. */
  readonly entry?: JsonObject
  /** Replaces keys of the derivation. */
  readonly file?: JsonObject
  /** Other files, by path. */
  readonly files?: Readonly<Record<string, string>>
  /** The key that requests must have. */
  readonly key?: string
  readonly options?: Partial<SheetOptions>
}

/** An open sheet of companies with a derivation of kind `ai`, and the server of its model. */
export interface AiSheet {
  readonly run: RunSheet
  readonly server: ModelServer
  /** Returns `models.yaml` with these members of the model's entry. */
  models(entry?: JsonObject): string
}

export const GOOD: ModelAnswer = { json: { industry: 'Retail', staff: 12 } }

/** The directory of a sheet of companies, and the server of its model. */
interface AiDirectory extends Pick<AiSheet, 'server' | 'models'> {
  readonly directory: string
}

export async function openAiSheet(t: TestContext, given: AiSheetFiles = {}): Promise<AiSheet> {
  const { directory, server, models } = await writeAiSheet(t, given)
  const sheet = await openOnEngine(directory, given.options)
  onEnd(t, () => sheet.close())
  return { run: await RunSheet.of({ sheet, api: await startLocalApi(t), directory }), server, models }
}

export async function writeAiSheet(t: TestContext, given: AiSheetFiles = {}): Promise<AiDirectory> {
  const { answer = () => GOOD, companies = ['Acme'], entry = {}, file = {}, files = {}, key = null } = given
  const server = await new ModelServer(answer, { key }).listen()
  onEnd(t, () => server.close())
  const models = (changed: JsonObject = {}): string => {
    const small = { api: 'openai', url: server.url, model: 'qwen3:4b', price: PRICE, ...entry, ...changed }
    return `${JSON.stringify({ models: { small } }, null, 2)}\n`
  }
  const directory = await writeSheet(t, {
    contract: contractText([
      '{name: company, logicalType: string}',
      '{name: industry, logicalType: string, description: Its main business., quality: [{metric: invalidValues, arguments: {validValues: [Retail, Energy]}, mustBe: 0}]}',
      '{name: staff, logicalType: integer, logicalTypeOptions: {minimum: 1}}',
    ]),
    records: companies.map((company, index) => ({ id: `${index + 1}`, company })),
    derivations: { 'company.yaml': `${JSON.stringify({ ...COMPANY, ...file }, null, 2)}\n` },
  })
  for (const [path, text] of Object.entries({ 'models.yaml': models(), ...files })) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), text)
  }
  return { directory, server, models }
}
