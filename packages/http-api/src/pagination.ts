export const pageQuery = {
  page: {
    type: 'integer',
    minimum: 1,
    maximum: 2_147_483_647,
    default: 1,
    description: 'Number of the page to return',
  },
  size: { type: 'integer', minimum: 1, maximum: 100, default: 20, description: 'Results per page, at most 100' },
} as const;

export interface Page<T> {
  pagination: { total_items: number; page_number: number; page_size: number; total_pages: number };
  data: T[];
}

export interface PageRequest {
  page: number;
  size: number;
}

export function toPage<T>(data: T[], totalItems: number, { page, size }: PageRequest): Page<T> {
  return {
    pagination: {
      total_items: totalItems,
      page_number: page,
      page_size: size,
      total_pages: Math.ceil(totalItems / size),
    },
    data,
  };
}

export function pageOf<const S extends { title: string; examples: readonly unknown[] }>(item: S) {
  const pagination = { total_items: 1, page_number: 1, page_size: 20, total_pages: 1 };
  return {
    type: 'object',
    title: `${item.title}Page`,
    examples: [{ pagination, data: item.examples.slice(0, 1) }],
    required: ['pagination', 'data'],
    properties: {
      pagination: {
        type: 'object',
        title: 'Pagination',
        required: ['total_items', 'page_number', 'page_size', 'total_pages'],
        properties: {
          total_items: { type: 'integer', description: 'Number of matching items on all pages' },
          page_number: { type: 'integer', description: 'Number of this page, as requested' },
          page_size: { type: 'integer', description: 'Results per page, as requested' },
          total_pages: { type: 'integer', description: 'Number of pages. 0 if nothing matches' },
        },
      },
      data: { type: 'array', items: item },
    },
  } as const;
}
