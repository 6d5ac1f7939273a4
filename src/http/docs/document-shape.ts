/** The members of a schema that the pages show. */
export interface SchemaShape {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly format?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly SchemaShape[]
  readonly oneOf?: readonly SchemaShape[]
  readonly items?: SchemaShape
  readonly properties?: Readonly<Record<string, SchemaShape>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | SchemaShape
  readonly examples?: readonly unknown[]
  readonly [keyword: string]: unknown
}

/** A parameter or header, or a reference to one. */
export interface ParameterShape {
  readonly $ref?: string
  readonly name?: string
  readonly in?: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: SchemaShape
  readonly example?: unknown
  /** For a parameter whose text has a media type. */
  readonly content?: Content
}

type Content = Readonly<Record<string, { readonly schema: SchemaShape }>>

/** A response, or a reference to one. */
export interface ResponseShape {
  readonly $ref?: string
  readonly description?: string
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: Content
}

export interface OperationShape {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly security: readonly unknown[]
  readonly parameters?: readonly ParameterShape[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, ResponseShape>>
}

/** The members of the OpenAPI document that the pages show. */
export interface DocumentShape {
  readonly info: { readonly title: string; readonly description: string }
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationShape>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, SchemaShape>>
    readonly parameters: Readonly<Record<string, ParameterShape>>
    readonly responses: Readonly<Record<string, ResponseShape>>
  }
}

/** An operation with its method and path. */
export interface PlacedOperation extends OperationShape {
  readonly method: string
  readonly path: string
}

/** Returns the operations of a document, in its order. */
export function operationsOf({ paths }: DocumentShape): readonly PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method, path })),
  )
}

/** Returns the last part of a reference: the name of its target. */
export function refName(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1)
}
