import type { MapShape, Shape } from './document-shape.ts'
import { ANNOTATIONS } from './odcs-annotations.ts'

/**
 * The structure of the `schema` of an Open Data Contract Standard document (v3.0, v3.1). What the service itself
 * reads is checked further by parse-field.ts, logical-type-options.ts and quality-rules.ts.
 */

const REFERENCE: Shape = { text: true, list: { listOf: 'string' }, map: null }

function relationships(ends: 'from and to' | 'to'): Shape {
  const from = ends === 'to' ? {} : { from: REFERENCE }
  return {
    listOf: {
      keys: {
        type: { oneOf: ['foreignKey'] },
        ...from,
        to: REFERENCE,
        customProperties: ANNOTATIONS.customProperties,
      },
      required: ends === 'to' ? ['to'] : ['from', 'to'],
      closedSince: '3.1',
    },
  }
}

const ELEMENT = {
  id: 'string',
  name: 'string',
  physicalType: 'string',
  physicalName: 'string',
  description: 'string',
  businessName: 'string',
  quality: { listOf: 'any' },
  ...ANNOTATIONS,
} as const satisfies Record<string, Shape>

/** The only entry of `schema`; its properties and quality rules are checked individually. */
export const SCHEMA_ENTRY: MapShape = {
  keys: {
    ...ELEMENT,
    logicalType: { oneOf: ['object'] },
    dataGranularityDescription: 'string',
    properties: { listOf: 'any' },
    relationships: relationships('from and to'),
  },
  required: ['name', 'properties'],
  closedSince: '3.0',
}

/** The keys of a property of any type; `items` and `properties` depend on the type. */
export const PROPERTY: MapShape = {
  keys: {
    ...ELEMENT,
    primaryKey: 'boolean',
    primaryKeyPosition: 'integer',
    logicalType: 'string',
    logicalTypeOptions: 'any',
    required: 'boolean',
    unique: 'boolean',
    partitioned: 'boolean',
    partitionKeyPosition: 'integer',
    classification: 'string',
    encryptedName: 'string',
    transformSourceObjects: { listOf: 'string' },
    transformLogic: 'string',
    transformDescription: 'string',
    examples: { listOf: 'any' },
    criticalDataElement: 'boolean',
    relationships: relationships('to'),
  },
  closedSince: '3.0',
}

const QUALITY_BASE: Record<string, Shape> = {
  id: 'string',
  businessImpact: 'string',
  description: 'string',
  dimension: {
    oneOf: ['accuracy', 'completeness', 'conformity', 'consistency', 'coverage', 'timeliness', 'uniqueness'],
  },
  method: 'string',
  name: 'string',
  schedule: 'string',
  scheduler: 'string',
  severity: 'string',
  type: { oneOf: ['text', 'library', 'sql', 'custom'] },
  unit: 'string',
  ...ANNOTATIONS,
}

const OPERATORS: Record<string, Shape> = {
  mustBe: 'any',
  mustNotBe: 'any',
  mustBeGreaterThan: 'number',
  mustBeGreaterOrEqualTo: 'number',
  mustBeLessThan: 'number',
  mustBeLessOrEqualTo: 'number',
  mustBeBetween: { listOf: 'number' },
  mustNotBeBetween: { listOf: 'number' },
}

const QUALITY_BY_TYPE: Record<string, MapShape> = {
  text: { keys: {} },
  library: {
    keys: {
      metric: { oneOf: ['nullValues', 'missingValues', 'invalidValues', 'duplicateValues', 'rowCount'] },
      rule: 'string',
      arguments: { text: false, list: null, map: { keys: {} } },
      ...OPERATORS,
    },
    required: ['metric'],
  },
  sql: { keys: { query: 'string', ...OPERATORS }, required: ['query'] },
  custom: {
    keys: { engine: 'string', implementation: { text: true, list: null, map: { keys: {} } } },
    required: ['engine', 'implementation'],
  },
}

/** Returns the shape of a quality rule of this type; a rule with a metric is a library rule. */
export function qualityShape(type: unknown, hasMetric: boolean): MapShape {
  const types = [hasMetric ? 'library' : '', typeof type === 'string' ? type : '']
  const parts = [...new Set(types)].flatMap((name) =>
    Object.hasOwn(QUALITY_BY_TYPE, name) ? [QUALITY_BY_TYPE[name]!] : [],
  )
  return {
    keys: Object.assign({}, QUALITY_BASE, ...parts.map((part) => part.keys)) as Record<string, Shape>,
    required: parts.flatMap((part) => part.required ?? []),
    closedSince: '3.1',
  }
}

/** The names of the comparisons; a library or sql rule has exactly one. */
export const OPERATOR_NAMES: readonly string[] = Object.keys(OPERATORS)
