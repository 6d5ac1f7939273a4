import type { Shape } from './document-shape.ts'

const TAGS: Shape = { listOf: 'string' }

// Closed in every version, unlike in the standard: a misspelt "property" would silently disable an `editableBy`.
const CUSTOM_PROPERTIES: Shape = {
  listOf: {
    keys: { id: 'string', property: 'string', value: 'any', description: 'string' },
    required: ['property', 'value'],
    closedSince: '3.0',
  },
}

const AUTHORITATIVE_DEFINITIONS: Shape = {
  listOf: {
    keys: { id: 'string', url: 'string', type: 'string', description: 'string' },
    required: ['url', 'type'],
    closedSince: '3.1',
  },
}

/** The keys that many elements of the document have. */
export const ANNOTATIONS = {
  tags: TAGS,
  customProperties: CUSTOM_PROPERTIES,
  authoritativeDefinitions: AUTHORITATIVE_DEFINITIONS,
} as const
