// Package discover writes what a server says about itself to programs and people that
// come without a key: llms.txt, the cards of agents, the catalogue, the map of the site,
// and the page of the API.
//
// It is a pure function of a Site: no request, clock, file or network is seen, and no
// data of anyone's. The words are its own (folder texts); which routes there are comes
// from the description of the API, and the documents from the server.
package discover
