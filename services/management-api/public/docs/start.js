// No validator: it is another's host. Keys are not stored: they are gone with the page.
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  validatorUrl: null,
  persistAuthorization: false,
  deepLinking: true,
  filter: true,
  displayRequestDuration: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
});
