import type { MapShape, Shape } from './document-shape.ts'
import { ANNOTATIONS } from './odcs-annotations.ts'
import { SERVER_KEYS } from './odcs-servers.ts'

/**
 * The structure of an Open Data Contract Standard document (v3.0, v3.1) outside its schema: which keys there are,
 * what they hold, and where further keys are refused. odcs-schema.ts has the rest.
 */

const ROLE: MapShape = {
  keys: {
    id: 'string',
    role: 'string',
    description: 'string',
    access: 'string',
    firstLevelApprovers: 'string',
    secondLevelApprovers: 'string',
    customProperties: ANNOTATIONS.customProperties,
  },
  required: ['role'],
  closedSince: '3.1',
}

const SERVER_BASE = {
  id: 'string',
  server: 'string',
  type: { oneOf: Object.keys(SERVER_KEYS) },
  description: 'string',
  environment: 'string',
  roles: { listOf: ROLE },
  customProperties: ANNOTATIONS.customProperties,
} as const satisfies Record<string, Shape>

/**
 * Returns the shape of a server of this type. With an unknown type all keys are allowed, so that the error is about
 * the type.
 */
export function serverShape(type: unknown): MapShape {
  const known = typeof type === 'string' && Object.hasOwn(SERVER_KEYS, type)
  const names = (known ? SERVER_KEYS[type]! : Object.values(SERVER_KEYS).join(' ')).split(' ')
  const keys: Record<string, Shape> = { ...SERVER_BASE }
  for (const name of names) keys[name.replace('!', '')] = name.startsWith('port') ? 'integer' : 'string'
  const needed = names.filter((name) => known && name.endsWith('!')).map((name) => name.replace('!', ''))
  return { keys, required: ['server', 'type', ...needed], closedSince: '3.1' }
}

const TEAM_MEMBER: MapShape = {
  keys: {
    id: 'string',
    username: 'string',
    name: 'string',
    description: 'string',
    role: 'string',
    dateIn: 'string',
    dateOut: 'string',
    replacedByUsername: 'string',
    ...ANNOTATIONS,
  },
  required: ['username'],
  closedSince: '3.1',
}

const TEAM: MapShape = {
  keys: {
    id: 'string',
    name: 'string',
    description: 'string',
    members: { listOf: TEAM_MEMBER },
    ...ANNOTATIONS,
  },
  closedSince: '3.1',
}

const SUPPORT: Shape = {
  listOf: {
    keys: {
      id: 'string',
      channel: 'string',
      url: 'string',
      description: 'string',
      tool: 'string',
      scope: 'string',
      invitationUrl: 'string',
      customProperties: ANNOTATIONS.customProperties,
    },
    required: ['channel'],
    closedSince: '3.1',
  },
}

const PRICE: MapShape = {
  keys: { id: 'string', priceAmount: 'number', priceCurrency: 'string', priceUnit: 'string' },
  closedSince: '3.1',
}

const SLA_PROPERTIES: Shape = {
  listOf: {
    keys: {
      id: 'string',
      property: 'string',
      value: 'any',
      valueExt: 'any',
      unit: 'string',
      element: 'string',
      driver: 'string',
      description: 'string',
      scheduler: 'string',
      schedule: 'string',
    },
    required: ['property', 'value'],
    closedSince: '3.1',
  },
}

/** The whole document except `servers` and `schema`, whose entries are checked individually. */
export const DOCUMENT: MapShape = {
  keys: {
    version: 'string',
    kind: { oneOf: ['DataContract'] },
    apiVersion: 'string',
    id: 'string',
    name: 'string',
    tenant: 'string',
    status: 'string',
    servers: { listOf: 'any' },
    dataProduct: 'string',
    description: {
      text: true,
      list: null,
      map: {
        keys: {
          usage: 'string',
          purpose: 'string',
          limitations: 'string',
          authoritativeDefinitions: ANNOTATIONS.authoritativeDefinitions,
          customProperties: ANNOTATIONS.customProperties,
        },
      },
    },
    domain: 'string',
    schema: { listOf: 'any' },
    support: SUPPORT,
    price: PRICE,
    team: { text: false, list: { listOf: TEAM_MEMBER }, map: TEAM },
    roles: { listOf: ROLE },
    slaDefaultElement: 'string',
    slaProperties: SLA_PROPERTIES,
    contractCreatedTs: 'string',
    ...ANNOTATIONS,
  },
  required: ['version', 'apiVersion', 'kind', 'id', 'schema'],
  closedSince: '3.0',
}
