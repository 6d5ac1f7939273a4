import {
  ResourceTemplate,
  type McpServer,
  type ReadResourceResult,
  type Variables,
} from '@modelcontextprotocol/server'
import { ServiceError, SheetError } from '../errors/service-error.ts'
import { getRecord } from '../sheet/queries/get-record.ts'
import { readContractText } from '../sheet/schema/read-contract.ts'
import { readContract } from '../sheet/schema/read-contract.ts'
import { readDerivations, type DerivationReport } from '../sheet/schema/read-derivations.ts'
import { readStatus } from '../sheet/cells/read-status.ts'
import type { Sheet } from '../sheet/sheet.ts'
import { toStatusAnswer } from '../wire/runs/status.ts'
import { protocolError } from './protocol-error.ts'
import {
  decoded,
  DERIVATION_TEMPLATE,
  derivationUri,
  RECORD_TEMPLATE,
  RESOURCE_URIS,
} from './resource-uris.ts'

const JSON_TYPE = 'application/json'
const YAML_TYPE = 'application/yaml'

/** Resources that exist once, with their names and how they are read. */
const SINGLE = [
  {
    name: 'contract',
    uri: RESOURCE_URIS.contract,
    title: 'Contract (YAML)',
    description: 'The file contract.yaml: the fields of the sheet, an Open Data Contract.',
    mimeType: YAML_TYPE,
    read: readContractText,
  },
  {
    name: 'contract-json',
    uri: RESOURCE_URIS.contractJson,
    title: 'Contract (JSON)',
    description: 'The validated contract with its defaults, and how derived fields are computed.',
    mimeType: JSON_TYPE,
    read: async (sheet: Sheet) => JSON.stringify(await readContract(sheet)),
  },
  {
    name: 'status',
    uri: RESOURCE_URIS.status,
    title: 'Status',
    description: 'The counts of cell states for each derived field.',
    mimeType: JSON_TYPE,
    read: async (sheet: Sheet) => JSON.stringify(toStatusAnswer(await readStatus(sheet, null))),
  },
] as const

/** Registers the resources of a sheet: contract, status, each derivation file, and records by their id. */
export function registerResources(server: McpServer, sheet: Sheet, log: (error: unknown) => void): void {
  const reading = async (
    uri: string,
    mimeType: string,
    read: () => Promise<string>,
  ): Promise<ReadResourceResult> => {
    try {
      return { contents: [{ uri, mimeType, text: await read() }] }
    } catch (error) {
      throw protocolError(error, uri, log)
    }
  }
  for (const { name, uri, read, ...metadata } of SINGLE) {
    server.registerResource(name, uri, metadata, () => reading(uri, metadata.mimeType, () => read(sheet)))
  }
  server.registerResource(
    'derivation',
    new ResourceTemplate(DERIVATION_TEMPLATE, { list: () => listDerivations(sheet) }),
    {
      title: 'Derivation file',
      description: 'A file of derivations/: the fields that it computes, and how.',
      mimeType: YAML_TYPE,
    },
    ({ href }, variables) => reading(href, YAML_TYPE, () => readDerivation(sheet, variables)),
  )
  server.registerResource(
    'record',
    new ResourceTemplate(RECORD_TEMPLATE, { list: undefined }),
    { title: 'Record', description: 'A record by its id, percent-encoded.', mimeType: JSON_TYPE },
    ({ href }, variables) => reading(href, JSON_TYPE, () => readRecord(sheet, variables)),
  )
}

/** Lists none while a file is invalid: the other resources are listed all the same, and the contract reports the error. */
async function listDerivations(
  sheet: Sheet,
): Promise<{ resources: { uri: string; name: string; title: string }[] }> {
  let derivations: readonly DerivationReport[]
  try {
    derivations = await readDerivations(sheet)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    derivations = []
  }
  return {
    resources: derivations.map(({ file, targets }) => ({
      uri: derivationUri(file),
      name: file,
      title: `${file}: computes ${targets.join(', ')}`,
    })),
  }
}

async function readDerivation(sheet: Sheet, variables: Variables): Promise<string> {
  const wanted = variable(variables, 'file')
  const derivations = await readDerivations(sheet)
  const found = derivations.find(({ file }) => file === wanted)
  if (found !== undefined) return found.text
  const known = derivations.map(({ file }) => file).join(', ') || 'none'
  throw new SheetError(`no derivation file ${JSON.stringify(wanted)}; known: ${known}`, 'unknown_derivation')
}

async function readRecord(sheet: Sheet, variables: Variables): Promise<string> {
  const { json } = await getRecord(sheet, variable(variables, 'id'), null)
  return json.toString()
}

function variable(variables: Variables, name: string): string {
  const text = [variables[name] ?? ''].flat().join(',')
  return decoded(text) ?? text
}
