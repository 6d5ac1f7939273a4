type Camel<Key> = Key extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Key

/** The type of a wire object with its members named in camelCase. */
export type CamelKeys<T> = { readonly [Key in keyof T as Camel<Key> & PropertyKey]: T[Key] }
